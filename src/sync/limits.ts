import type { BatchPeersLimits } from "./batch-peers.ts";

export interface RangeSyncLimits extends BatchPeersLimits {
  batchSlots: number;
  /** Batches under way or downloaded that are not imported yet: the memory that syncing takes. */
  heldBatches: number;
  /** A peer that holds everybody up for so long is left for another, if there is one. */
  patienceMs: number;
  failuresPerBatch: number;
  refusalsPerBatch: number;
  /** A target that was not delivered is left alone this long, twice as long the next time, and so on. */
  doubtMs: number;
  maxDoubtMs: number;
}

export const DEFAULT_LIMITS: RangeSyncLimits = {
  batchSlots: 64,
  heldBatches: 8,
  requestsPerPeer: 2,
  restMs: 500,
  maxRestMs: 30_000,
  patienceMs: 5_000,
  failuresPerBatch: 10,
  refusalsPerBatch: 5,
  doubtMs: 5_000,
  maxDoubtMs: 300_000,
};
