import type { BeaconConfig } from "@lodestar/config";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeWeakSubjectivityPeriodCachedState,
} from "@lodestar/state-transition";
import type { Epoch } from "@lodestar/types";

/** A state outside the weak subjectivity period. */
export interface StaleState {
  epoch: Epoch;
  ageEpochs: number;
  /** Length of the weak subjectivity period in epochs. */
  periodEpochs: number;
}

/**
 * Checks `is_within_weak_subjectivity_period` (phase0/weak-subjectivity.md). Returns null for a recent state. After the
 * period, enough validators may have exited to build a conflicting chain without risk.
 */
export function findStaleState(
  config: BeaconConfig,
  state: CachedBeaconStateAllForks,
  currentEpoch: Epoch,
): StaleState | null {
  const epoch = computeEpochAtSlot(state.slot);
  const ageEpochs = currentEpoch - epoch;
  const periodEpochs = computeWeakSubjectivityPeriodCachedState(config, state);
  return ageEpochs > periodEpochs ? { epoch, ageEpochs, periodEpochs } : null;
}
