import { GENESIS_SLOT, SLOTS_PER_HISTORICAL_ROOT } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeStartSlotAtEpoch,
  getBlockRootAtSlot,
} from "@lodestar/state-transition";
import { type Epoch, type RootHex, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { latestBlockHeader } from "../anchor/anchor.ts";

/**
 * Returns the root of the last block before the epoch, or of the genesis block. Duties that are determined by the
 * history up to this block do not change with later blocks. The root is read from the state, since the block may be
 * older than the node's history. If it is older than the state's own memory, the oldest remembered root is returned.
 */
export function lastRootBefore(epoch: Epoch, state: CachedBeaconStateAllForks): RootHex {
  const slot = Math.max(GENESIS_SLOT, computeStartSlotAtEpoch(Math.max(0, epoch)) - 1);
  if (slot < state.slot) {
    const oldest = state.slot - SLOTS_PER_HISTORICAL_ROOT;
    return toRootHex(getBlockRootAtSlot(state, Math.max(slot, oldest)));
  }
  return toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(latestBlockHeader(state)));
}
