import type { BatchPeersLimits } from "./batch-peers.ts";
import type { RangeDataLimits } from "./range-data.ts";

export interface RangeSyncLimits extends BatchPeersLimits, RangeDataLimits {
  batchSlots: number;
  /** Batches under way or downloaded that are not imported yet: the memory that syncing takes. */
  heldBatches: number;
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
  keeperMs: 30_000,
  dataBytes: 32 * 2 ** 20,
  dataBlocks: 32,
  failuresPerBatch: 10,
  refusalsPerBatch: 5,
  doubtMs: 5_000,
  maxDoubtMs: 300_000,
};
