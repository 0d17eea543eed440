import {
  EFFECTIVE_BALANCE_INCREMENT,
  ForkSeq,
  MAX_EFFECTIVE_BALANCE,
  MAX_EFFECTIVE_BALANCE_ELECTRA,
  MIN_EPOCHS_TO_INACTIVITY_PENALTY,
} from "@lodestar/params";
import {
  beforeProcessEpoch,
  type CachedBeaconStateAllForks,
  type CachedBeaconStateAltair,
  FLAG_ELIGIBLE_ATTESTER,
  FLAG_PREV_HEAD_ATTESTER_UNSLASHED,
  FLAG_PREV_SOURCE_ATTESTER_UNSLASHED,
  FLAG_PREV_TARGET_ATTESTER_UNSLASHED,
  hasMarkers,
} from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";
import { altairScale } from "./altair-scale.ts";
import { phase0BaseReward, phase0ProposerReward, phase0Scale } from "./phase0-scale.ts";
import type { EpochEnd, Scale, VoteRewards } from "./scale.ts";

export interface AttestationRewards {
  /** What an attester that did everything right got, by its effective balance. */
  idealRewards: (VoteRewards & { effectiveBalance: number })[];
  /** What every validator of the registry got, in its order; those that were not to vote got nothing. */
  totalRewards: (VoteRewards & { validatorIndex: ValidatorIndex })[];
}

/**
 * What is paid for the votes of an epoch when the next one ends. `state` is the last of that next epoch, `after` the same
 * advanced by one slot: the epoch transition finds out what is final by then, and how inactive everybody was, before it pays.
 */
export function computeAttestationRewards(
  state: CachedBeaconStateAllForks,
  after: CachedBeaconStateAllForks,
): AttestationRewards {
  const fork = state.config.getForkSeq(state.slot);
  // The next epoch transition of whatever chain overwrites what this gives: nothing may be awaited from here on.
  const transition = beforeProcessEpoch(state.clone(true));
  const finalityDelay = transition.prevEpoch - after.finalizedCheckpoint.epoch;
  const end = { transition, finalityDelay, isInLeak: finalityDelay > MIN_EPOCHS_TO_INACTIVITY_PENALTY };

  if (fork === ForkSeq.phase0) {
    const scale = phase0Scale(end);
    const totalRewards = rewardsOfAll(state, end, scale, []);
    payProposers(state, end, totalRewards);
    return { idealRewards: idealRewards(fork, scale), totalRewards };
  }
  const scale = altairScale(state.config, fork, end);
  const inactivityScores = (after as CachedBeaconStateAltair).inactivityScores.getAll();
  return {
    idealRewards: idealRewards(fork, scale),
    totalRewards: rewardsOfAll(state, end, scale, inactivityScores),
  };
}

function idealRewards(fork: ForkSeq, scale: Scale): AttestationRewards["idealRewards"] {
  const maxBalance = fork >= ForkSeq.electra ? MAX_EFFECTIVE_BALANCE_ELECTRA : MAX_EFFECTIVE_BALANCE;
  const voted = { votedSource: true, votedTarget: true, votedHead: true, inclusionDelay: 1, inactivityScore: 0 };
  return Array.from({ length: maxBalance / EFFECTIVE_BALANCE_INCREMENT + 1 }, (_, increments) => {
    const effectiveBalance = increments * EFFECTIVE_BALANCE_INCREMENT;
    return { effectiveBalance, ...scale({ effectiveBalance, ...voted }) };
  });
}

function rewardsOfAll(
  state: CachedBeaconStateAllForks,
  { transition }: EpochEnd,
  scale: Scale,
  inactivityScores: readonly number[],
): AttestationRewards["totalRewards"] {
  const { flags, inclusionDelays } = transition;
  return flags.map((flag, validatorIndex) => {
    const rewards = scale({
      // Who was not to vote has nothing at stake.
      effectiveBalance: hasMarkers(flag, FLAG_ELIGIBLE_ATTESTER) ? effectiveBalance(state, validatorIndex) : 0,
      votedSource: hasMarkers(flag, FLAG_PREV_SOURCE_ATTESTER_UNSLASHED),
      votedTarget: hasMarkers(flag, FLAG_PREV_TARGET_ATTESTER_UNSLASHED),
      votedHead: hasMarkers(flag, FLAG_PREV_HEAD_ATTESTER_UNSLASHED),
      inclusionDelay: inclusionDelays[validatorIndex] ?? 0,
      inactivityScore: inactivityScores[validatorIndex] ?? 0,
    });
    return { validatorIndex, ...rewards };
  });
}

/**
 * Phase0 pays whoever included a vote first together with those who voted, and the specification counts it among what is
 * paid for inclusion delays (get_inclusion_delay_deltas). A proposer need not have been among those that were to vote.
 */
function payProposers(
  state: CachedBeaconStateAllForks,
  { transition }: EpochEnd,
  totalRewards: AttestationRewards["totalRewards"],
): void {
  const { flags, proposerIndices } = transition;
  const baseRewardOf = phase0BaseReward(transition);
  for (const [index, flag] of flags.entries()) {
    if (!hasMarkers(flag, FLAG_PREV_SOURCE_ATTESTER_UNSLASHED)) continue;
    const proposer = totalRewards[proposerIndices[index]!]!;
    const reward = phase0ProposerReward(baseRewardOf(effectiveBalance(state, index)));
    proposer.inclusionDelay = (proposer.inclusionDelay ?? 0) + reward;
  }
}

function effectiveBalance({ epochCtx }: CachedBeaconStateAllForks, index: ValidatorIndex): number {
  return epochCtx.effectiveBalanceIncrements[index]! * EFFECTIVE_BALANCE_INCREMENT;
}
