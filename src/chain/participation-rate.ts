import { ForkSeq } from "@lodestar/params";
import type { CachedBeaconStateAllForks, CachedBeaconStatePhase0 } from "@lodestar/state-transition";

/**
 * The part of the stake whose votes of the epoch before the state's are on chain: from altair on those for the right target,
 * which count for finality. Undefined in the first epoch.
 */
export function participationRate(state: CachedBeaconStateAllForks): number | undefined {
  const { epochCtx } = state;
  if (epochCtx.epoch === 0) return undefined;
  const isPhase0 = epochCtx.config.getForkSeq(state.slot) === ForkSeq.phase0;
  const voted = isPhase0 ? phase0Voted(state) : epochCtx.previousTargetUnslashedBalanceIncrements;
  return voted / epochCtx.totalActiveBalanceIncrements;
}

function phase0Voted(state: CachedBeaconStateAllForks): number {
  const { epochCtx, previousEpochAttestations } = state as CachedBeaconStatePhase0;
  const attesters = new Set<number>();
  for (const { aggregationBits, data } of previousEpochAttestations.getAllReadonly()) {
    const committee = epochCtx.getBeaconCommittee(data.slot, data.index);
    for (const attester of aggregationBits.intersectValues(Array.from(committee))) attesters.add(attester);
  }
  let voted = 0;
  for (const attester of attesters) voted += epochCtx.effectiveBalanceIncrements[attester] ?? 0;
  return voted;
}
