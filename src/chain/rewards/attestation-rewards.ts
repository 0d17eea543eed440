import type { CompositeTypeAny } from "@chainsafe/ssz";
import {
  EFFECTIVE_BALANCE_INCREMENT,
  ForkSeq,
  MAX_EFFECTIVE_BALANCE,
  MAX_EFFECTIVE_BALANCE_ELECTRA,
  MIN_EPOCHS_TO_INACTIVITY_PENALTY,
} from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  type CachedBeaconStateAltair,
  type CachedBeaconStatePhase0,
  FLAG_ELIGIBLE_ATTESTER,
  FLAG_PREV_HEAD_ATTESTER_UNSLASHED,
  FLAG_PREV_SOURCE_ATTESTER_UNSLASHED,
  FLAG_PREV_TARGET_ATTESTER_UNSLASHED,
  hasMarkers,
} from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";
import { serializeInSlices } from "../../ssz/streaming.ts";
import { altairRewardCalculator } from "./altair-rewards.ts";
import type { Attester, EpochEnd, RewardCalculator, VoteRewards } from "./attester-rewards.ts";
import { phase0BaseReward, phase0ProposerReward, phase0RewardCalculator } from "./phase0-rewards.ts";
import { countAltairVotes, countPhase0Votes, type Phase0Votes, type Votes } from "./votes.ts";

export interface AttestationRewards {
  /** Rewards for perfect participation, by effective balance. */
  idealRewards: (VoteRewards & { effectiveBalance: number })[];
  /** Rewards of a validator; zero if it has no attestation duty. */
  rewardOf(validator: ValidatorIndex): VoteRewards;
}

/**
 * Computes the rewards for votes in an epoch, which are paid at the end of the next epoch. `state` is the last state of
 * that next epoch, and `after` is the same state advanced by one slot, because the epoch transition updates finality
 * and inactivity scores before it pays.
 */
export async function computeAttestationRewards(
  state: CachedBeaconStateAllForks,
  after: CachedBeaconStateAllForks,
): Promise<AttestationRewards> {
  const fork = state.config.getForkSeq(state.slot);
  const finalityDelay = state.epochCtx.previousShuffling.epoch - after.finalizedCheckpoint.epoch;
  const end = { finalityDelay, isInLeak: finalityDelay > MIN_EPOCHS_TO_INACTIVITY_PENALTY };
  return fork === ForkSeq.phase0
    ? phase0Rewards(state as CachedBeaconStatePhase0, end)
    : altairRewards(state as CachedBeaconStateAltair, after as CachedBeaconStateAltair, fork, end);
}

type Finality = Omit<EpochEnd, "totals">;

function phase0Rewards(state: CachedBeaconStatePhase0, finality: Finality): AttestationRewards {
  const votes = countPhase0Votes(state);
  const rewardsOf = phase0RewardCalculator({ ...finality, totals: votes.totals });
  const ofProposers = payProposers(state, votes);
  return {
    idealRewards: idealRewards(ForkSeq.phase0, rewardsOf),
    rewardOf: (index) => {
      const inclusionDelay = votes.inclusionDelays[index] ?? 0;
      const rewards = rewardsOf({ ...attesterAt(state, votes, index), inclusionDelay, inactivityScore: 0 });
      // A proposer need not have an attestation duty of its own.
      return { ...rewards, inclusionDelay: (rewards.inclusionDelay ?? 0) + (ofProposers.get(index) ?? 0) };
    },
  };
}

async function altairRewards(
  state: CachedBeaconStateAltair,
  { inactivityScores }: CachedBeaconStateAltair,
  fork: ForkSeq,
  finality: Finality,
): Promise<AttestationRewards> {
  const votes = await countAltairVotes(state);
  const scores = new DataView(
    (await serializeInSlices(inactivityScores.type as CompositeTypeAny, inactivityScores.node)).buffer,
  );
  const rewardsOf = altairRewardCalculator(state.config, fork, { ...finality, totals: votes.totals });
  return {
    idealRewards: idealRewards(fork, rewardsOf),
    rewardOf: (index) => {
      const inactivityScore = Number(scores.getBigUint64(index * 8, true));
      return rewardsOf({ ...attesterAt(state, votes, index), inclusionDelay: 0, inactivityScore });
    },
  };
}

function idealRewards(fork: ForkSeq, rewardsOf: RewardCalculator): AttestationRewards["idealRewards"] {
  const maxBalance = fork >= ForkSeq.electra ? MAX_EFFECTIVE_BALANCE_ELECTRA : MAX_EFFECTIVE_BALANCE;
  const voted = { votedSource: true, votedTarget: true, votedHead: true, inclusionDelay: 1, inactivityScore: 0 };
  return Array.from({ length: maxBalance / EFFECTIVE_BALANCE_INCREMENT + 1 }, (_, increments) => {
    const effectiveBalance = increments * EFFECTIVE_BALANCE_INCREMENT;
    return { effectiveBalance, ...rewardsOf({ effectiveBalance, ...voted }) };
  });
}

function attesterAt(
  state: CachedBeaconStateAllForks,
  { flags }: Votes,
  index: ValidatorIndex,
): Omit<Attester, "inclusionDelay" | "inactivityScore"> {
  const flag = flags[index]!;
  return {
    // Validators without a duty get neither rewards nor penalties.
    effectiveBalance: hasMarkers(flag, FLAG_ELIGIBLE_ATTESTER) ? effectiveBalance(state, index) : 0,
    votedSource: hasMarkers(flag, FLAG_PREV_SOURCE_ATTESTER_UNSLASHED),
    votedTarget: hasMarkers(flag, FLAG_PREV_TARGET_ATTESTER_UNSLASHED),
    votedHead: hasMarkers(flag, FLAG_PREV_HEAD_ATTESTER_UNSLASHED),
  };
}

/**
 * Adds the proposers' rewards. Phase0 pays them together with the attesters' rewards, and the specification counts them
 * as inclusion delay rewards (get_inclusion_delay_deltas).
 */
function payProposers(
  state: CachedBeaconStateAllForks,
  { flags, totals, proposerIndices }: Phase0Votes,
): Map<ValidatorIndex, number> {
  const baseRewardOf = phase0BaseReward(totals);
  const rewards = new Map<ValidatorIndex, number>();
  for (const [index, flag] of flags.entries()) {
    if (!hasMarkers(flag, FLAG_PREV_SOURCE_ATTESTER_UNSLASHED)) continue;
    const proposer = proposerIndices[index]!;
    const reward = phase0ProposerReward(baseRewardOf(effectiveBalance(state, index)));
    rewards.set(proposer, (rewards.get(proposer) ?? 0) + reward);
  }
  return rewards;
}

function effectiveBalance({ epochCtx }: CachedBeaconStateAllForks, index: ValidatorIndex): number {
  return epochCtx.effectiveBalanceIncrements[index]! * EFFECTIVE_BALANCE_INCREMENT;
}
