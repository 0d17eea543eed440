import type { EpochTransitionCache } from "@lodestar/state-transition";

/** Attestation rewards of a validator for an epoch, in Gwei; penalties are negative. */
export interface VoteRewards {
  head: number;
  target: number;
  source: number;
  /** Phase0 only. */
  inclusionDelay?: number;
  inactivity: number;
}

/** Participation of a validator. Votes of slashed validators do not count. */
export interface Attester {
  effectiveBalance: number;
  votedSource: boolean;
  votedTarget: boolean;
  votedHead: boolean;
  /** In slots; phase0 only. */
  inclusionDelay: number;
  /** Inactivity score after the epoch transition has updated it, as used for penalties. Since Altair. */
  inactivityScore: number;
}

/** Participating stake and base rewards. */
export type VoteTotals = Pick<
  EpochTransitionCache,
  "totalActiveStakeByIncrement" | "baseRewardPerIncrement" | "prevEpochUnslashedStake"
>;

/** End of the epoch after the attested one, when rewards are paid. */
export interface EpochEnd {
  totals: VoteTotals;
  /** Number of epochs between the last finalized epoch and the attested one. */
  finalityDelay: number;
  isInLeak: boolean;
}

/** Computes one validator's rewards from the participation of all validators. */
export type RewardCalculator = (attester: Attester) => VoteRewards;
