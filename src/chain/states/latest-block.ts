import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import { type RootHex, type Slot, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { latestBlockHeader } from "../anchor/anchor.ts";

interface LatestBlock {
  root: RootHex;
  slot: Slot;
}

/** Keyed by root node, which is immutable, unlike the state object. */
const blocksByNode = new WeakMap<CachedBeaconStateAllForks["node"], LatestBlock>();

/** Returns the latest block processed by the state. The state must be committed. */
export function latestBlock(state: CachedBeaconStateAllForks): LatestBlock {
  let block = blocksByNode.get(state.node);
  if (block === undefined) {
    const header = latestBlockHeader(state);
    block = { root: toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(header)), slot: header.slot };
    blocksByNode.set(state.node, block);
  }
  return block;
}
