import { ForkSeq } from "@lodestar/params";
import type { CachedBeaconStateAllForks, CachedBeaconStatePhase0, EpochCache } from "@lodestar/state-transition";

/**
 * The part of the stake whose votes of the epoch before the state's are on chain: from altair on those for the right target,
 * which count for finality. Undefined in the first epoch.
 */
export function participationRate(state: CachedBeaconStateAllForks): number | undefined {
  if (state.epochCtx.epoch === 0) return undefined;
  return rateOf(
    state,
    ({ previousTargetUnslashedBalanceIncrements }) => previousTargetUnslashedBalanceIncrements,
    ({ previousEpochAttestations }) => previousEpochAttestations,
  );
}

/** The same of the state's own epoch, which grows while the epoch lasts. */
export function currentParticipationRate(state: CachedBeaconStateAllForks): number {
  return rateOf(
    state,
    ({ currentTargetUnslashedBalanceIncrements }) => currentTargetUnslashedBalanceIncrements,
    ({ currentEpochAttestations }) => currentEpochAttestations,
  );
}

function rateOf(
  state: CachedBeaconStateAllForks,
  counted: (epochCtx: EpochCache) => number,
  attestations: (state: CachedBeaconStatePhase0) => CachedBeaconStatePhase0["currentEpochAttestations"],
): number {
  const { epochCtx } = state;
  const isPhase0 = epochCtx.config.getForkSeq(state.slot) === ForkSeq.phase0;
  const voted = isPhase0 ? phase0Voted(epochCtx, attestations(state as CachedBeaconStatePhase0)) : counted(epochCtx);
  return voted / epochCtx.totalActiveBalanceIncrements;
}

function phase0Voted(epochCtx: EpochCache, attestations: CachedBeaconStatePhase0["currentEpochAttestations"]): number {
  const attesters = new Set<number>();
  for (const { aggregationBits, data } of attestations.getAllReadonly()) {
    const committee = epochCtx.getBeaconCommittee(data.slot, data.index);
    for (const attester of aggregationBits.intersectValues(Array.from(committee))) attesters.add(attester);
  }
  let voted = 0;
  for (const attester of attesters) voted += epochCtx.effectiveBalanceIncrements[attester] ?? 0;
  return voted;
}
