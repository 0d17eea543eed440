import {
  BASE_REWARD_FACTOR,
  EFFECTIVE_BALANCE_INCREMENT,
  INACTIVITY_PENALTY_QUOTIENT,
  PROPOSER_REWARD_QUOTIENT,
} from "@lodestar/params";
import { BASE_REWARDS_PER_EPOCH } from "@lodestar/state-transition";
import { bigIntSqrt } from "@lodestar/utils";
import type { EpochEnd, RewardCalculator, VoteTotals } from "./attester-rewards.ts";

/** phase0/beacon-chain.md, get_attestation_deltas, without proposer rewards. */
export function phase0RewardCalculator({ totals, finalityDelay, isInLeak }: EpochEnd): RewardCalculator {
  const { totalActiveStakeByIncrement, prevEpochUnslashedStake } = totals;
  const { sourceStakeByIncrement, targetStakeByIncrement, headStakeByIncrement } = prevEpochUnslashedStake;
  const baseRewardOf = phase0BaseReward(totals);

  /** get_attestation_component_deltas */
  const component = (baseReward: number, voted: boolean, attestingIncrements: number) => {
    if (!voted) return -baseReward;
    // During a leak, the full reward is paid and offset by the inactivity penalty.
    return isInLeak ? baseReward : Math.floor((baseReward * attestingIncrements) / totalActiveStakeByIncrement);
  };

  return ({ effectiveBalance, votedSource, votedTarget, votedHead, inclusionDelay }) => {
    const base = baseRewardOf(effectiveBalance);
    const proposerReward = phase0ProposerReward(base);
    const ofEverybody = BASE_REWARDS_PER_EPOCH * base - proposerReward;
    const ofAbsent = Math.floor((effectiveBalance * finalityDelay) / INACTIVITY_PENALTY_QUOTIENT);
    return {
      head: component(base, votedHead, headStakeByIncrement),
      target: component(base, votedTarget, targetStakeByIncrement),
      source: component(base, votedSource, sourceStakeByIncrement),
      inclusionDelay: votedSource ? Math.floor((base - proposerReward) / inclusionDelay) : 0,
      inactivity: isInLeak ? -(ofEverybody + (votedTarget ? 0 : ofAbsent)) : 0,
    };
  };
}

/** get_base_reward, as a function of the effective balance. */
export function phase0BaseReward({ totalActiveStakeByIncrement }: VoteTotals): (effectiveBalance: number) => number {
  const root = Number(bigIntSqrt(BigInt(totalActiveStakeByIncrement) * BigInt(EFFECTIVE_BALANCE_INCREMENT)));
  return (effectiveBalance) =>
    Math.floor(Math.floor((effectiveBalance * BASE_REWARD_FACTOR) / root) / BASE_REWARDS_PER_EPOCH);
}

/** get_proposer_reward: reward for being the first to include a vote. */
export function phase0ProposerReward(baseReward: number): number {
  return Math.floor(baseReward / PROPOSER_REWARD_QUOTIENT);
}
