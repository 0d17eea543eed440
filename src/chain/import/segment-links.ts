import { setImmediate as nextTurn } from "node:timers/promises";
import type { BeaconConfig } from "@lodestar/config";
import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { blockRoot } from "../blocks/block-root.ts";
import { BlockRejection, blaming } from "./block-rejection.ts";

export interface RootedBlock {
  signed: SignedBeaconBlock;
  root: RootHex;
}

/** Finds the roots of blocks that are said to be a chain, and refuses them when one is not the child of the one before. */
export async function linkSegment(config: BeaconConfig, blocks: readonly SignedBeaconBlock[]): Promise<RootedBlock[]> {
  const linked: RootedBlock[] = [];
  for (const signed of blocks) {
    const { slot, parentRoot } = signed.message;
    const root = blockRoot(config, signed.message);
    const before = linked.at(-1);
    if (before && toRootHex(parentRoot) !== before.root) {
      const message = `The block of slot ${slot} does not build on the block of slot ${before.signed.message.slot} before it.`;
      throw blaming(new BlockRejection("not-connected", message), { slot, root });
    }
    linked.push({ signed, root });
    await nextTurn();
  }
  return linked;
}
