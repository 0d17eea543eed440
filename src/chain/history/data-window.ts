import type { BeaconConfig } from "@lodestar/config";
import { computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { Epoch, Slot } from "@lodestar/types";

/**
 * Returns the first slot in the data retention window (p2p-interface.md of deneb and fulu, BlobSidecarsByRange and
 * DataColumnSidecarsByRange); Infinity before Deneb.
 */
export function firstSlotWithData(config: BeaconConfig, currentEpoch: Epoch): Slot {
  const { DENEB_FORK_EPOCH, FULU_FORK_EPOCH } = config;
  const blobs = Math.max(DENEB_FORK_EPOCH, currentEpoch - config.MIN_EPOCHS_FOR_BLOB_SIDECARS_REQUESTS);
  const columns = Math.max(FULU_FORK_EPOCH, currentEpoch - config.MIN_EPOCHS_FOR_DATA_COLUMN_SIDECARS_REQUESTS);
  return computeStartSlotAtEpoch(blobs < FULU_FORK_EPOCH ? blobs : columns);
}
