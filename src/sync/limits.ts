import type { BatchPeersLimits } from "./batch-peers.ts";
import type { RangeDataLimits } from "./range-data.ts";

export interface RangeSyncLimits extends BatchPeersLimits, RangeDataLimits {
  batchSlots: number;
  /** Maximum number of batches that are downloading or waiting for import. Bounds the sync's memory use. */
  maxBatches: number;
  maxBatchFailures: number;
  maxBatchRejections: number;
  /** Backoff after a target was not delivered for the first time. Doubles with each further failure. */
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
