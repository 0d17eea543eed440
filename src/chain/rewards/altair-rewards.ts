import type { BeaconConfig } from "@lodestar/config";
import {
  EFFECTIVE_BALANCE_INCREMENT,
  ForkSeq,
  INACTIVITY_PENALTY_QUOTIENT_ALTAIR,
  INACTIVITY_PENALTY_QUOTIENT_BELLATRIX,
  TIMELY_HEAD_WEIGHT,
  TIMELY_SOURCE_WEIGHT,
  TIMELY_TARGET_WEIGHT,
  WEIGHT_DENOMINATOR,
} from "@lodestar/params";
import type { EpochEnd, RewardCalculator } from "./attester-rewards.ts";

/** altair/beacon-chain.md, get_flag_index_deltas and get_inactivity_penalty_deltas; Bellatrix changed the quotient. */
export function altairRewardCalculator(
  config: BeaconConfig,
  fork: ForkSeq,
  { totals, isInLeak }: EpochEnd,
): RewardCalculator {
  const { totalActiveStakeByIncrement, baseRewardPerIncrement, prevEpochUnslashedStake } = totals;
  const { sourceStakeByIncrement, targetStakeByIncrement, headStakeByIncrement } = prevEpochUnslashedStake;
  const quotient = fork === ForkSeq.altair ? INACTIVITY_PENALTY_QUOTIENT_ALTAIR : INACTIVITY_PENALTY_QUOTIENT_BELLATRIX;

  const reward = (baseReward: number, weight: number, participatingIncrements: number) =>
    isInLeak
      ? 0
      : Math.floor(
          (baseReward * weight * participatingIncrements) / (totalActiveStakeByIncrement * WEIGHT_DENOMINATOR),
        );
  const penalty = (baseReward: number, weight: number) => -Math.floor((baseReward * weight) / WEIGHT_DENOMINATOR);

  return ({ effectiveBalance, votedSource, votedTarget, votedHead, inactivityScore }) => {
    const base = (effectiveBalance / EFFECTIVE_BALANCE_INCREMENT) * baseRewardPerIncrement;
    return {
      head: votedHead ? reward(base, TIMELY_HEAD_WEIGHT, headStakeByIncrement) : 0,
      target: votedTarget
        ? reward(base, TIMELY_TARGET_WEIGHT, targetStakeByIncrement)
        : penalty(base, TIMELY_TARGET_WEIGHT),
      source: votedSource
        ? reward(base, TIMELY_SOURCE_WEIGHT, sourceStakeByIncrement)
        : penalty(base, TIMELY_SOURCE_WEIGHT),
      inactivity: votedTarget
        ? 0
        : -Math.floor((effectiveBalance * inactivityScore) / (config.INACTIVITY_SCORE_BIAS * quotient)),
    };
  };
}
