import { BitArray } from "@chainsafe/ssz";
import { ForkSeq, SYNC_COMMITTEE_SIZE } from "@lodestar/params";
import type { CachedBeaconStateAllForks, CachedBeaconStateAltair } from "@lodestar/state-transition";
import type { altair, SignedBeaconBlock, ValidatorIndex } from "@lodestar/types";
import { replayBlock } from "../states/advance.ts";

/** What a block gave to a member of the sync committee or took from it, in Gwei, for all of its seats together. */
export interface SyncCommitteeReward {
  validatorIndex: ValidatorIndex;
  reward: number;
}

/** Every member in the order of the seats. The genesis block, which was never processed, gave them nothing. */
export function genesisSyncCommitteeRewards(state: CachedBeaconStateAllForks): SyncCommitteeReward[] {
  return [...new Set(seatsOf(state))].map((validatorIndex) => ({ validatorIndex, reward: 0 }));
}

/**
 * altair/beacon-chain.md, process_sync_aggregate. `preState` is the state of the block's slot without the block. In
 * phase0 there is no committee.
 */
export async function computeSyncCommitteeRewards(
  preState: CachedBeaconStateAllForks,
  block: SignedBeaconBlock,
): Promise<SyncCommitteeReward[]> {
  const seats = seatsOf(preState);
  if (seats.length === 0) return [];
  const { syncCommitteeBits } = (block.message.body as altair.BeaconBlockBody).syncAggregate;
  const seatReward = preState.epochCtx.syncParticipantReward;
  const balances = await balancesOfMembers(preState, block as altair.SignedBeaconBlock);
  const rewards = new Map<ValidatorIndex, number>();
  for (const [seat, member] of seats.entries()) {
    const balance = balances.get(member)!;
    // No balance falls below zero: from a member that has withdrawn everything, there is nothing to take.
    const change = syncCommitteeBits.get(seat) ? seatReward : -Math.min(seatReward, balance);
    balances.set(member, balance + change);
    rewards.set(member, (rewards.get(member) ?? 0) + change);
  }
  return Array.from(rewards, ([validatorIndex, reward]) => ({ validatorIndex, reward }));
}

/** The validators in the seats of the committee; one may have several. */
function seatsOf(state: CachedBeaconStateAllForks): readonly ValidatorIndex[] {
  if (state.config.getForkSeq(state.slot) < ForkSeq.altair) return [];
  return Array.from((state as CachedBeaconStateAltair).epochCtx.currentSyncCommitteeIndexed.validatorIndices);
}

/**
 * What the members have when it is the sync aggregate's turn, which is last of all in a block. It is what they would have
 * after a block in which all of them took part, from whom nothing is taken, less what they would have got for it.
 */
async function balancesOfMembers(
  preState: CachedBeaconStateAllForks,
  { message, signature }: altair.SignedBeaconBlock,
): Promise<Map<ValidatorIndex, number>> {
  const everybody = BitArray.fromBoolArray(new Array(SYNC_COMMITTEE_SIZE).fill(true));
  const syncAggregate = { ...message.body.syncAggregate, syncCommitteeBits: everybody };
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
