import {
  BeaconStateView,
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  getBlockRootAtSlot,
} from "@lodestar/state-transition";
import type { BeaconBlock, phase0, RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { Checkpoint, ForkChoiceBlock, ForkChoiceExecution } from "../fork-choice/types.ts";

export const toCheckpoint = ({ epoch, root }: phase0.Checkpoint): Checkpoint => ({ epoch, root: toRootHex(root) });

/** What fork choice needs to know of a block, read off its post-state. */
export function toForkChoiceBlock(
  block: BeaconBlock,
  root: RootHex,
  { state, execution }: { state: CachedBeaconStateAllForks; execution: ForkChoiceExecution },
): ForkChoiceBlock {
  const epochStart = computeStartSlotAtEpoch(computeEpochAtSlot(block.slot));
  const unrealized = new BeaconStateView(state).computeUnrealizedCheckpoints();
  return {
    slot: block.slot,
    root,
    parentRoot: toRootHex(block.parentRoot),
    stateRoot: toRootHex(block.stateRoot),
    targetRoot: block.slot === epochStart ? root : toRootHex(getBlockRootAtSlot(state, epochStart)),
    justified: toCheckpoint(state.currentJustifiedCheckpoint),
    finalized: toCheckpoint(state.finalizedCheckpoint),
    unrealizedJustified: toCheckpoint(unrealized.justifiedCheckpoint),
    unrealizedFinalized: toCheckpoint(unrealized.finalizedCheckpoint),
    execution,
  };
}
