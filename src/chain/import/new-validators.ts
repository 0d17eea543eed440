import { type CachedBeaconStateAllForks, computeEpochAtSlot } from "@lodestar/state-transition";
import type { SignedBeaconBlock } from "@lodestar/types";

/**
 * Whether the way from a block's post-state over its child may add validators. All states share one table of their keys,
 * which nothing leaves again: what adds to it must follow from blocks that are known to be valid.
 */
export function mayAddValidators(state: CachedBeaconStateAllForks, { message }: SignedBeaconBlock): boolean {
  if (message.body.deposits.length > 0) return true;
  // electra/beacon-chain.md, process_pending_deposits: a part of the epoch transition.
  const isNextEpoch = computeEpochAtSlot(message.slot) > computeEpochAtSlot(state.slot);
  return isNextEpoch && "pendingDeposits" in state && state.pendingDeposits.length > 0;
}
