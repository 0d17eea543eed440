import { BitArray } from "@chainsafe/ssz";
import { ForkSeq, SYNC_COMMITTEE_SIZE } from "@lodestar/params";
import type { CachedBeaconStateAllForks, CachedBeaconStateAltair } from "@lodestar/state-transition";
import type { altair, SignedBeaconBlock, ValidatorIndex } from "@lodestar/types";
import { replayBlock } from "../states/advance.ts";

/** Reward or penalty of a sync committee member in a block, summed over all positions of the member, in Gwei. */
export interface SyncCommitteeReward {
  validatorIndex: ValidatorIndex;
  reward: number;
}

/** Returns all members in committee order with zero rewards, since the genesis block is never processed. */
export function genesisSyncCommitteeRewards(state: CachedBeaconStateAllForks): SyncCommitteeReward[] {
  return [...new Set(seatsOf(state))].map((validatorIndex) => ({ validatorIndex, reward: 0 }));
}

/**
 * altair/beacon-chain.md, process_sync_aggregate. `preState` is the slot's state before the block. Returns an empty
 * list in phase0.
 */
export async function computeSyncCommitteeRewards(
  preState: CachedBeaconStateAllForks,
  block: SignedBeaconBlock,
): Promise<SyncCommitteeReward[]> {
  const seats = seatsOf(preState);
  if (seats.length === 0) return [];
  const { syncCommitteeBits } = (block.message.body as altair.BeaconBlockBody).syncAggregate;
  const { syncParticipantReward: seatReward, syncProposerReward } = preState.epochCtx;
  const { proposerIndex } = block.message;
  const balances = await balancesOfMembers(preState, block as altair.SignedBeaconBlock);
  const rewards = new Map<ValidatorIndex, number>();
  for (const [seat, member] of seats.entries()) {
    const balance = balances.get(member)!;
    const signed = syncCommitteeBits.get(seat);
    // Balances cannot become negative.
    const change = signed ? seatReward : -Math.min(seatReward, balance);
    balances.set(member, balance + change);
    // The proposer is paid after each position, so its own later penalties can reduce that reward.
    const ofProposer = balances.get(proposerIndex);
    if (signed && ofProposer !== undefined) balances.set(proposerIndex, ofProposer + syncProposerReward);
    rewards.set(member, (rewards.get(member) ?? 0) + change);
  }
  return Array.from(rewards, ([validatorIndex, reward]) => ({ validatorIndex, reward }));
}

/** Returns validators by committee position; a validator can have several positions. */
function seatsOf(state: CachedBeaconStateAllForks): readonly ValidatorIndex[] {
  if (state.config.getForkSeq(state.slot) < ForkSeq.altair) return [];
  return Array.from((state as CachedBeaconStateAltair).epochCtx.currentSyncCommitteeIndexed.validatorIndices);
}

/**
 * Returns the members' balances right before the sync aggregate, which is the last part of a block to be processed.
 * Replays the block with full participation, which causes no penalties, and subtracts the rewards.
 */
async function balancesOfMembers(
  preState: CachedBeaconStateAllForks,
  { message, signature }: altair.SignedBeaconBlock,
): Promise<Map<ValidatorIndex, number>> {
  const fullParticipation = BitArray.fromBoolArray(new Array(SYNC_COMMITTEE_SIZE).fill(true));
  const syncAggregate = { ...message.body.syncAggregate, syncCommitteeBits: fullParticipation };
  const block = { message: { ...message, body: { ...message.body, syncAggregate } }, signature };
  const { after } = await replayBlock(preState, block);
  const balances = new Map<ValidatorIndex, number>();
  for (const member of seatsOf(preState)) {
    const balance = balances.get(member) ?? after.balances.get(member) - ofProposer(member);
    balances.set(member, balance - preState.epochCtx.syncParticipantReward);
  }
  return balances;

  function ofProposer(member: ValidatorIndex): number {
    return member === message.proposerIndex ? after.proposerRewards.syncAggregate : 0;
  }
}
