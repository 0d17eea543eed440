import type { EpochTransitionCache } from "@lodestar/state-transition";

/** What a validator got for its votes of an epoch, in Gwei; what it lost is negative. */
export interface VoteRewards {
  head: number;
  target: number;
  source: number;
  /** In phase0 alone, which pays for it apart. */
  inclusionDelay?: number;
  inactivity: number;
}

/** A validator that was to vote, and how it did. Votes of slashed validators do not count. */
export interface Attester {
  effectiveBalance: number;
  votedSource: boolean;
  votedTarget: boolean;
  votedHead: boolean;
  /** Slots until the vote was included; matters in phase0. */
  inclusionDelay: number;
  /** As the epoch transition leaves it, which updates it before it pays; matters from altair on. */
  inactivityScore: number;
}

/** How much stake voted, and what a vote is worth. */
export type VoteTotals = Pick<
  EpochTransitionCache,
  "totalActiveStakeByIncrement" | "baseRewardPerIncrement" | "prevEpochUnslashedStake"
>;

/** The end of the epoch after that of the votes, when they are paid for. */
export interface EpochEnd {
  totals: VoteTotals;
  /** Epochs from the last final one to that of the votes. */
  finalityDelay: number;
  isInLeak: boolean;
}

/** Says what is paid to whom; the participation of all others is already in it. */
export type Scale = (attester: Attester) => VoteRewards;
