import type { BeaconConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { serializeSignedBlock } from "../../src/chain/blocks/block-encoding.ts";
import type { DevFork } from "../../src/dev/forks.ts";
import { withDevChain } from "../support/dev-chain.ts";

/** Recorded chain for repeated imports. Serialized, so that imports do not share cached hashes. */
export interface RecordedChain {
  config: BeaconConfig;
  genesisTime: number;
  genesisState: Uint8Array;
  blocks: Uint8Array[];
}

/** Runs a dev chain and records its blocks. */
export function recordChain(fork: DevFork, validators: number, epochs: number): Promise<RecordedChain> {
  const forks = fork === "phase0" ? [] : [{ fork, epoch: 0 }];
  return withDevChain({ validators, forks, epochs }, async ({ devChain: { chain, clock, config } }) => {
    const genesis = await chain.states.genesis();
    if (!genesis) throw new Error("The dev chain has no genesis state to import blocks on.");
    const blocks: Uint8Array[] = [];
    for (let slot = 1; slot <= epochs * SLOTS_PER_EPOCH; slot++) {
      await clock.advanceTo(slot);
      const block = await chain.blocks.canonicalAtSlot(slot);
      if (!block) throw new Error(`The dev chain has no block in slot ${slot}; every slot should have one.`);
      blocks.push(serializeSignedBlock(config, block.signed));
    }
    return { config, genesisTime: chain.genesis.time, genesisState: genesis.serialize(), blocks };
  });
}
