import type { BeaconConfig } from "@lodestar/config";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeWeakSubjectivityPeriodCachedState,
} from "@lodestar/state-transition";
import type { Epoch } from "@lodestar/types";

/** A state from which the chain cannot be followed in safety any more. */
export interface StaleState {
  epoch: Epoch;
  ageEpochs: number;
  /** How old it may be. */
  periodEpochs: number;
}

/**
 * is_within_weak_subjectivity_period of weak-subjectivity.md: so many validators may have left since an older state that they
 * could make another chain from it which looks just as good, at no risk. Null for a state that is recent enough.
 */
export function findStale(
  config: BeaconConfig,
  state: CachedBeaconStateAllForks,
  currentEpoch: Epoch,
): StaleState | null {
  const epoch = computeEpochAtSlot(state.slot);
  const ageEpochs = currentEpoch - epoch;
  const periodEpochs = computeWeakSubjectivityPeriodCachedState(config, state);
  return ageEpochs > periodEpochs ? { epoch, ageEpochs, periodEpochs } : null;
}
