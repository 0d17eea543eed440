import {
  BASE_REWARD_FACTOR,
  EFFECTIVE_BALANCE_INCREMENT,
  ForkSeq,
  MIN_ATTESTATION_INCLUSION_DELAY,
  PROPOSER_WEIGHT,
  SLOTS_PER_EPOCH,
  SYNC_COMMITTEE_SIZE,
  SYNC_REWARD_WEIGHT,
  TIMELY_HEAD_FLAG_INDEX,
  TIMELY_HEAD_WEIGHT,
  TIMELY_SOURCE_FLAG_INDEX,
  TIMELY_SOURCE_WEIGHT,
  TIMELY_TARGET_FLAG_INDEX,
  TIMELY_TARGET_WEIGHT,
  WEIGHT_DENOMINATOR,
  WHISTLEBLOWER_REWARD_QUOTIENT,
  WHISTLEBLOWER_REWARD_QUOTIENT_ELECTRA,
} from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  type CachedBeaconStateAltair,
  getBlockRoot,
  getBlockRootAtSlot,
  isActiveValidator,
} from "@lodestar/state-transition";
import type { Attestation, altair, SignedBeaconBlock } from "@lodestar/types";
import { byteArrayEquals } from "@lodestar/utils";

type State = CachedBeaconStateAllForks;

/** Rewards of a block's proposer in Gwei, with the names of the API. */
export interface ExpectedBlockRewards {
  attestations: number;
  sync_aggregate: number;
  proposer_slashings: number;
  attester_slashings: number;
}

const FLAG_WEIGHTS = [
  [TIMELY_SOURCE_FLAG_INDEX, TIMELY_SOURCE_WEIGHT],
  [TIMELY_TARGET_FLAG_INDEX, TIMELY_TARGET_WEIGHT],
  [TIMELY_HEAD_FLAG_INDEX, TIMELY_HEAD_WEIGHT],
] as const;

/** Computes every part by the specification. `before` is the state of the block's slot without the block. */
export function expectedBlockRewards(before: State, block: SignedBeaconBlock, after: State): ExpectedBlockRewards {
  const isPhase0 = before.config.getForkSeq(before.slot) === ForkSeq.phase0;
  return {
    attestations: isPhase0 ? 0 : attestationRewards(before as CachedBeaconStateAltair, block),
    sync_aggregate: isPhase0 ? 0 : syncAggregateReward(before, block as altair.SignedBeaconBlock),
    ...slashingRewards(before, block, after),
  };
}

/** slash_validator: the proposer is also the whistleblower, and gets both shares of its reward. */
function slashingRewards(before: State, { message }: SignedBeaconBlock, after: State) {
  const isElectra = before.config.getForkSeq(before.slot) >= ForkSeq.electra;
  const quotient = isElectra ? WHISTLEBLOWER_REWARD_QUOTIENT_ELECTRA : WHISTLEBLOWER_REWARD_QUOTIENT;
  const byProposal = new Set(
    message.body.proposerSlashings.map(({ signedHeader1 }) => signedHeader1.message.proposerIndex),
  );
  const rewards = { proposer_slashings: 0, attester_slashings: 0 };
  for (const [index, { slashed, effectiveBalance }] of before.validators.getAllReadonlyValues().entries()) {
    if (slashed || !after.validators.getReadonly(index).slashed) continue;
    rewards[byProposal.has(index) ? "proposer_slashings" : "attester_slashings"] += Math.floor(
      effectiveBalance / quotient,
    );
  }
  return rewards;
}

/** altair/beacon-chain.md, process_sync_aggregate. */
function syncAggregateReward(state: State, { message }: altair.SignedBeaconBlock): number {
  const { perIncrement, totalIncrements } = baseReward(state);
  const ofSlot = Math.floor(
    Math.floor((perIncrement * totalIncrements * SYNC_REWARD_WEIGHT) / WEIGHT_DENOMINATOR) / SLOTS_PER_EPOCH,
  );
  const ofParticipant = Math.floor(ofSlot / SYNC_COMMITTEE_SIZE);
  const ofProposer = Math.floor((ofParticipant * PROPOSER_WEIGHT) / (WEIGHT_DENOMINATOR - PROPOSER_WEIGHT));
  return ofProposer * message.body.syncAggregate.syncCommitteeBits.getTrueBitIndexes().length;
}

/** altair/beacon-chain.md, process_attestation: the proposer is paid for flags that no earlier attestation has set. */
function attestationRewards(state: CachedBeaconStateAltair, { message }: SignedBeaconBlock): number {
  const { perIncrement } = baseReward(state);
  const fork = state.config.getForkSeq(state.slot);
  const current = state.currentEpochParticipation.getAll();
  const previous = state.previousEpochParticipation.getAll();
  const denominator = Math.floor(((WEIGHT_DENOMINATOR - PROPOSER_WEIGHT) * WEIGHT_DENOMINATOR) / PROPOSER_WEIGHT);
  let total = 0;
  for (const attestation of message.body.attestations as Attestation[]) {
    const participation = attestation.data.target.epoch === state.epochCtx.epoch ? current : previous;
    const flags = flagsOf(state, attestation);
    let numerator = 0;
    for (const index of state.epochCtx.getAttestingIndices(fork, attestation)) {
      const { effectiveBalance } = state.validators.getReadonly(index);
      const base = (effectiveBalance / EFFECTIVE_BALANCE_INCREMENT) * perIncrement;
      for (const [flag, weight] of FLAG_WEIGHTS) {
        const bit = 1 << flag;
        if ((flags & bit) !== 0 && (participation[index]! & bit) === 0) numerator += base * weight;
      }
      participation[index]! |= flags;
    }
    total += Math.floor(numerator / denominator);
  }
  return total;
}

/** get_attestation_participation_flag_indices, as bits; from deneb on a target vote counts at any delay. */
function flagsOf(state: State, { data }: Attestation): number {
  const delay = state.slot - data.slot;
  const isTarget = byteArrayEquals(data.target.root, getBlockRoot(state, data.target.epoch));
  const isHead = isTarget && byteArrayEquals(data.beaconBlockRoot, getBlockRootAtSlot(state, data.slot));
  const isTargetInTime = state.config.getForkSeq(state.slot) >= ForkSeq.deneb || delay <= SLOTS_PER_EPOCH;
  let flags = 0;
  if (delay <= Math.floor(Math.sqrt(SLOTS_PER_EPOCH))) flags |= 1 << TIMELY_SOURCE_FLAG_INDEX;
  if (isTarget && isTargetInTime) flags |= 1 << TIMELY_TARGET_FLAG_INDEX;
  if (isHead && delay === MIN_ATTESTATION_INCLUSION_DELAY) flags |= 1 << TIMELY_HEAD_FLAG_INDEX;
  return flags;
}

/** get_base_reward_per_increment, of the active balance of the state's epoch. */
function baseReward({ validators, epochCtx }: State): { perIncrement: number; totalIncrements: number } {
  const total = validators
    .getAllReadonlyValues()
    .filter((validator) => isActiveValidator(validator, epochCtx.epoch))
    .reduce((sum, { effectiveBalance }) => sum + effectiveBalance, 0);
  const root = Math.floor(Math.sqrt(total));
  return {
    perIncrement: Math.floor((EFFECTIVE_BALANCE_INCREMENT * BASE_REWARD_FACTOR) / root),
    totalIncrements: total / EFFECTIVE_BALANCE_INCREMENT,
  };
}
