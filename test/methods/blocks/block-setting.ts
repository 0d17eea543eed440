import { type ForkName, isForkPostDeneb } from "@lodestar/params";
import type { BeaconBlock, SignedBeaconBlock, Slot } from "@lodestar/types";
import type { DevChain } from "../../../src/dev/dev-chain.ts";
import { Caller } from "../../support/api/caller.ts";
import { ByHand } from "../../support/chain/by-hand.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests change payloads in ways that no type allows
type Json = any;

/** A chain that waits at a slot for its block. */
export interface BlockSetting {
  devChain: DevChain;
  caller: Caller;
  byHand: ByHand;
  /** The JSON form in which a block is submitted. */
  toJson(signed: SignedBeaconBlock): Json;
  /** A valid block on the head, for the current slot. */
  makeBlock(change?: (block: BeaconBlock) => BeaconBlock): Promise<{ root: string; json: Json }>;
}

export async function atSlot(devChain: DevChain, awaitedSlot: Slot): Promise<BlockSetting> {
  await devChain.clock.advanceTo(awaitedSlot);
  const byHand = new ByHand(devChain);
  const toJson = (signed: SignedBeaconBlock) => {
    const { slot } = signed.message;
    const json = devChain.config.getForkTypes(slot).SignedBeaconBlock.toJson(signed as never);
    const isWrapped = isForkPostDeneb(devChain.config.getForkName(slot) as ForkName);
    return structuredClone(isWrapped ? { signed_block: json, kzg_proofs: [], blobs: [] } : json) as Json;
  };
  return {
    devChain,
    caller: new Caller(devChain.api),
    byHand,
    toJson,
    async makeBlock(change = (block) => block) {
      const { root, signed } = byHand.sign(change(await byHand.produce(awaitedSlot, devChain.chain.head.root)));
      return { root, json: toJson(signed) };
    },
  };
}
