import { ForkSeq } from "@lodestar/params";
import type { CachedBeaconStateAllForks, CachedBeaconStatePhase0, EpochCache } from "@lodestar/state-transition";

/**
 * Returns the share of stake whose previous-epoch votes are on chain. Since Altair, only timely target votes are
 * included, because those count for finality. Undefined in epoch 0.
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

/** Returns the participation rate of the current epoch, which grows during the epoch. */
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
  // A vote counts with the balance at the time of inclusion, which may have been higher.
  return Math.min(1, voted / activeIncrements);
}

/** Sums the balances of validators active in the previous epoch, including those that have exited since. */
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
