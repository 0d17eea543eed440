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
    previousActiveIncrements(state.epochCtx),
  );
}

/** The same of the state's own epoch, which grows while the epoch lasts. */
export function currentParticipationRate(state: CachedBeaconStateAllForks): number {
  return rateOf(
    state,
    ({ currentTargetUnslashedBalanceIncrements }) => currentTargetUnslashedBalanceIncrements,
    ({ currentEpochAttestations }) => currentEpochAttestations,
    state.epochCtx.totalActiveBalanceIncrements,
  );
}

function rateOf(
  state: CachedBeaconStateAllForks,
  counted: (epochCtx: EpochCache) => number,
  attestations: (state: CachedBeaconStatePhase0) => CachedBeaconStatePhase0["currentEpochAttestations"],
  activeIncrements: number,
): number {
  const { epochCtx } = state;
  const isPhase0 = epochCtx.config.getForkSeq(state.slot) === ForkSeq.phase0;
  const voted = isPhase0 ? phase0Voted(epochCtx, attestations(state as CachedBeaconStatePhase0)) : counted(epochCtx);
  // Votes count with the stake that validators had when they came, which may have been more.
  return Math.min(1, voted / activeIncrements);
}

/** Of those that were active in the epoch before, some of which may have left since. */
function previousActiveIncrements({ previousShuffling, effectiveBalanceIncrements }: EpochCache): number {
  let sum = 0;
  for (const index of previousShuffling.activeIndices) sum += effectiveBalanceIncrements[index] ?? 0;
  return sum;
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
