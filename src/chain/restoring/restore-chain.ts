import type { BeaconConfig } from "@lodestar/config";
import { getAttesterSlashableIndices } from "@lodestar/state-transition";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { Logger } from "../../log/logger.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { ImportQueue } from "../import/import-queue.ts";
import type { PayloadQueue } from "../payloads/payload-queue.ts";
import type { Pools } from "../pools/pools.ts";
import type { StateStore } from "../states/state-store.ts";
import { restoreRecentBlocks } from "./recent-blocks.ts";
import { restoreAttestations } from "./restore-attestations.ts";
import { restoreBlocks } from "./restore-blocks.ts";
import { restoreCountedBlocks } from "./restore-counted-blocks.ts";

interface RestoreParts {
  config: BeaconConfig;
  db: BeaconDb;
  clock: Clock;
  forkChoice: ForkChoice;
  blocks: BlockStore;
  states: StateStore;
  pools: Pools;
  payloadQueue: PayloadQueue;
  importQueue: ImportQueue;
  logger: Logger;
  /** Aborts restoring. */
  signal?: AbortSignal;
}

/** Restores fork choice and the pools from the database. Returns the number of restored blocks. */
export async function restoreChain(parts: RestoreParts): Promise<number> {
  const { config, db, clock, forkChoice, states, pools, logger } = parts;
  const counted = await restoreCountedBlocks(parts);
  const blocks = await restoreBlocks(parts);
  forkChoice.onTick(clock.currentSlot);
  const { unreadable, ...pooled } = await pools.load(db, config);
  for (const slashing of pools.operations.listAttesterSlashings()) {
    forkChoice.onAttesterSlashing(getAttesterSlashableIndices(slashing));
  }
  // After a crash, the stored operations are outdated and may already be finalized.
  if (Object.values(pools.operations.sizes).some((size) => size > 0)) {
    pools.operations.prune(await states.atCheckpoint(forkChoice.finalized));
  }
  const attestations = await restoreAttestations(pooled, parts);
  await restoreRecentBlocks(parts);
  const leftOut = { blocks: blocks.leftOut, attestations: attestations.leftOut, unreadable };
  if (Object.values(leftOut).some((count) => count > 0)) {
    logger.warn("Ignored stored blocks or votes that no longer fit the chain", leftOut);
  }
  return counted + blocks.restored;
}
