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
import { serializeInSlices } from "../../ssz/pieces.ts";
import { forEachValidator } from "../states/each-validator.ts";
import type { VoteTotals } from "./scale.ts";

/** How everybody voted in an epoch, as the end of the next one finds it. */
export interface Votes {
  /** By validator, in the markers of the library. */
  flags: Uint8Array;
  totals: VoteTotals;
}

export interface Phase0Votes extends Votes {
  /** Slots until the vote of each validator was included. */
  inclusionDelays: readonly number[];
  /** Who included it. */
  proposerIndices: readonly ValidatorIndex[];
}

/** Phase0 has votes as they were cast, which the transition itself counts. */
export function countPhase0Votes(state: CachedBeaconStatePhase0): Phase0Votes {
  // The next epoch transition of whatever chain overwrites what this gives.
  const { flags, inclusionDelays, proposerIndices, ...totals } = beforeProcessEpoch(state.clone(true));
  return {
    flags: Uint8Array.from(flags),
    totals,
    inclusionDelays: inclusionDelays.slice(),
    proposerIndices: proposerIndices.slice(),
  };
}

/**
 * Altair keeps what counts of the votes. It is counted here as the transition does, altair/beacon-chain.md,
 * get_unslashed_participating_indices and get_eligible_validator_indices, but with turns for others in between: of a million
 * validators it takes a while.
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
      // get_total_balance is one increment at least.
      prevEpochUnslashedStake: {
        sourceStakeByIncrement: Math.max(1, stakes.source),
        targetStakeByIncrement: Math.max(1, stakes.target),
        headStakeByIncrement: Math.max(1, stakes.head),
      },
    },
  };
}
