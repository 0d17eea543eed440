import type { BeaconConfig } from "@lodestar/config";
import { getAttesterSlashableIndices } from "@lodestar/state-transition";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { Logger } from "../../log/logger.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { ImportQueue } from "../import/import-queue.ts";
import type { Pools } from "../pools/pools.ts";
import type { StateStore } from "../states/state-store.ts";
import { restoreAttestations } from "./restore-attestations.ts";
import { restoreBlocks } from "./restore-blocks.ts";
import { restoreCountedBlocks } from "./restore-counted-blocks.ts";

interface RestoreParts {
  config: BeaconConfig;
  db: BeaconDb;
  clock: Clock;
  forkChoice: ForkChoice;
  states: StateStore;
  pools: Pools;
  importQueue: ImportQueue;
  logger: Logger;
  /** Ends the restoring. */
  signal?: AbortSignal;
}

/** Takes the blocks and votes of the database back into fork choice and the pools; tells how many blocks these were. */
export async function restoreChain(parts: RestoreParts): Promise<number> {
  const { config, db, clock, forkChoice, states, pools, logger } = parts;
  const counted = await restoreCountedBlocks(parts);
  const blocks = await restoreBlocks(parts);
  forkChoice.onTick(clock.currentSlot);
  const { unreadable, ...pooled } = await pools.load(db, config);
  for (const slashing of pools.operations.listAttesterSlashings()) {
    forkChoice.onAttesterSlashing(getAttesterSlashableIndices(slashing));
  }
  // After a crash they are those of before, some of which may have become final since.
  if (Object.values(pools.operations.sizes).some((size) => size > 0)) {
    pools.operations.prune(await states.atCheckpoint(forkChoice.finalized));
  }
  const attestations = await restoreAttestations(pooled, parts);
  const leftOut = { blocks: blocks.leftOut, attestations: attestations.leftOut, unreadable };
  if (Object.values(leftOut).some((count) => count > 0)) {
    logger.warn("Stored blocks or votes no longer fit the chain and are left out", leftOut);
  }
  return counted + blocks.restored;
}
