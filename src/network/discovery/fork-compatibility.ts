import type { BeaconConfig } from "@lodestar/config";
import { type Epoch, type phase0, ssz } from "@lodestar/types";

/**
 * Whether a node with that entry in its record is on our chain and follows our forks (phase0/p2p-interface.md, eth2 field).
 * Records are read some time after they were signed: one from before a fork is good when it names that fork as its next.
 */
export function isCompatibleFork(config: BeaconConfig, currentEpoch: Epoch, theirs: phase0.ENRForkID): boolean {
  // A digest contains the chain's genesis, so that one which we know is of our chain.
  const boundary = config.forkDigest2ForkBoundaryOption(theirs.forkDigest);
  if (!boundary) return false;
  const ours = config.getForkBoundaryAtEpoch(currentEpoch);
  if (boundary.epoch === ours.epoch) return true;
  // Their clock may be a little ahead.
  if (boundary.epoch > ours.epoch) return boundary.epoch <= currentEpoch + 1;
  const { nextForkEpoch, nextForkVersion } = theirs;
  if (nextForkEpoch > currentEpoch || config.getForkBoundaryAtEpoch(nextForkEpoch).epoch !== nextForkEpoch)
    return false;
  return ssz.Version.equals(nextForkVersion, config.getForkInfoAtEpoch(nextForkEpoch).version);
}
