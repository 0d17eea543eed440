import type { BatchPeersLimits } from "./batch-peers.ts";
import type { RangeDataLimits } from "./range-data.ts";

export interface RangeSyncLimits extends BatchPeersLimits, RangeDataLimits {
  batchSlots: number;
  /** Batches downloading or waiting for import. Bounds the memory of the sync. */
  maxBatches: number;
  maxBatchFailures: number;
  maxBatchRejections: number;
  /** Backoff of a target that was not delivered. Doubles with each failure. */
  targetBackoffMs: number;
  maxTargetBackoffMs: number;
}

export const DEFAULT_LIMITS: RangeSyncLimits = {
  batchSlots: 64,
  maxBatches: 8,
  requestsPerPeer: 2,
  backoffMs: 500,
  maxBackoffMs: 30_000,
  stallCheckMs: 5_000,
  custodianWaitMs: 30_000,
  dataBytes: 32 * 2 ** 20,
  dataBlocks: 32,
  maxBatchFailures: 10,
  maxBatchRejections: 5,
  targetBackoffMs: 5_000,
  maxTargetBackoffMs: 300_000,
};
