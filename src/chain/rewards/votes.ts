import type { CompositeTypeAny } from "@chainsafe/ssz";
import {
  beforeProcessEpoch,
  type CachedBeaconStateAltair,
  type CachedBeaconStatePhase0,
  FLAG_ELIGIBLE_ATTESTER,
  FLAG_PREV_HEAD_ATTESTER_UNSLASHED,
  FLAG_PREV_SOURCE_ATTESTER_UNSLASHED,
  FLAG_PREV_TARGET_ATTESTER_UNSLASHED,
  FLAG_UNSLASHED,
  hasMarkers,
} from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";
import { serializeInSlices } from "../../ssz/streaming.ts";
import { forEachValidator } from "../states/each-validator.ts";
import type { VoteTotals } from "./attester-rewards.ts";

/** Participation of all validators in an epoch, as of the end of the next epoch. */
export interface Votes {
  /** By validator, using the library's flags. */
  flags: Uint8Array;
  totals: VoteTotals;
}

export interface Phase0Votes extends Votes {
  /** By validator, in slots. */
  inclusionDelays: readonly number[];
  /** Proposer that included each validator's vote. */
  proposerIndices: readonly ValidatorIndex[];
}

/** Counts phase0 votes with the library's epoch processing. */
export function countPhase0Votes(state: CachedBeaconStatePhase0): Phase0Votes {
  // Copy these arrays, because the library reuses them in the next epoch transition.
  const { flags, inclusionDelays, proposerIndices, ...totals } = beforeProcessEpoch(state.clone(true));
  return {
    flags: Uint8Array.from(flags),
    totals,
    inclusionDelays: inclusionDelays.slice(),
    proposerIndices: proposerIndices.slice(),
  };
}

/**
 * Counts Altair participation as the transition does (altair/beacon-chain.md, get_unslashed_participating_indices and
 * get_eligible_validator_indices), but in time slices.
 */
export async function countAltairVotes(state: CachedBeaconStateAltair): Promise<Votes> {
  const { epochCtx, previousEpochParticipation } = state;
  const { effectiveBalanceIncrements, totalActiveBalanceIncrements, baseRewardPerIncrement } = epochCtx;
  const epoch = epochCtx.previousShuffling.epoch;
  const participation = await serializeInSlices(
    previousEpochParticipation.type as CompositeTypeAny,
    previousEpochParticipation.node,
  );
  const flags = new Uint8Array(state.validators.length);
  const stakes = { source: 0, target: 0, head: 0 };
  await forEachValidator(state, ({ slashed, activationEpoch, exitEpoch, withdrawableEpoch }, index) => {
    const isActive = activationEpoch <= epoch && epoch < exitEpoch;
    const isEligible = isActive || (slashed && epoch + 1 < withdrawableEpoch);
    const flag =
      (slashed ? 0 : FLAG_UNSLASHED) |
      (isEligible ? FLAG_ELIGIBLE_ATTESTER : 0) |
      (isActive ? participation[index]! : 0);
    flags[index] = flag;
    const increments = effectiveBalanceIncrements[index]!;
    if (hasMarkers(flag, FLAG_PREV_SOURCE_ATTESTER_UNSLASHED)) stakes.source += increments;
    if (hasMarkers(flag, FLAG_PREV_TARGET_ATTESTER_UNSLASHED)) stakes.target += increments;
    if (hasMarkers(flag, FLAG_PREV_HEAD_ATTESTER_UNSLASHED)) stakes.head += increments;
  });
  return {
    flags,
    totals: {
      totalActiveStakeByIncrement: totalActiveBalanceIncrements,
      baseRewardPerIncrement,
      // get_total_balance returns at least one increment.
      prevEpochUnslashedStake: {
        sourceStakeByIncrement: Math.max(1, stakes.source),
        targetStakeByIncrement: Math.max(1, stakes.target),
        headStakeByIncrement: Math.max(1, stakes.head),
      },
    },
  };
}
