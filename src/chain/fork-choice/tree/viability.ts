import { GENESIS_EPOCH } from "@lodestar/params";
import { type Checkpoint, type ForkChoiceBlock, sameCheckpoint } from "../types.ts";
import { NO_NODE, type ProtoArray } from "./proto-array.ts";

export interface ViabilityCriteria {
  justified: Checkpoint;
  finalized: Checkpoint;
  currentSlot: number;
  slotsPerEpoch: number;
}

/**
 * Marks every node for which get_checkpoint_block (phase0/fork-choice.md) at the finalized epoch returns the finalized
 * root. A node after the epoch's first slot inherits from its parent; an earlier node qualifies only if it is the
 * finalized block.
 */
export function descentFromFinalized(tree: ProtoArray, finalized: Checkpoint, slotsPerEpoch: number): Uint8Array {
  const firstSlot = finalized.epoch * slotsPerEpoch;
  const descends = new Uint8Array(tree.size);
  tree.nodes.forEach(({ block, parent }, index) => {
    const inherited = parent !== NO_NODE && block.slot > firstSlot && descends[parent] === 1;
    if (inherited || block.root === finalized.root) descends[index] = 1;
  });
  return descends;
}

/**
 * Returns true if the block's state itself justified or finalized the checkpoint, which implies that the checkpoint is
 * on the block's chain.
 */
function vouchesFor(block: ForkChoiceBlock, checkpoint: Checkpoint): boolean {
  return (
    sameCheckpoint(block.finalized, checkpoint) ||
    sameCheckpoint(block.justified, checkpoint) ||
    sameCheckpoint(block.unrealizedFinalized, checkpoint) ||
    sameCheckpoint(block.unrealizedJustified, checkpoint)
  );
}

/** Marks nodes on the finalized chain: correct_finalized in filter_block_tree (phase0/fork-choice.md). */
export function nodesOnFinalizedChain(
  tree: ProtoArray,
  { finalized, slotsPerEpoch }: Pick<ViabilityCriteria, "finalized" | "slotsPerEpoch">,
): Uint8Array {
  if (finalized.epoch === GENESIS_EPOCH) return new Uint8Array(tree.size).fill(1);
  const descends = descentFromFinalized(tree, finalized, slotsPerEpoch);
  tree.nodes.forEach(({ block }, index) => {
    if (vouchesFor(block, finalized)) descends[index] = 1;
  });
  return descends;
}

/** True if a leaf can be the head: correct_justified in filter_block_tree (phase0/fork-choice.md). */
export function isViableLeaf(
  block: ForkChoiceBlock,
  { justified, currentSlot, slotsPerEpoch }: Pick<ViabilityCriteria, "justified" | "currentSlot" | "slotsPerEpoch">,
): boolean {
  const currentEpoch = Math.floor(currentSlot / slotsPerEpoch);
  const source = votingSource(block, currentEpoch, slotsPerEpoch);
  return justified.epoch === GENESIS_EPOCH || source.epoch === justified.epoch || source.epoch + 2 >= currentEpoch;
}

/** phase0/fork-choice.md, get_voting_source: for a block from an earlier epoch, the unrealized justification counts. */
export function votingSource(block: ForkChoiceBlock, currentEpoch: number, slotsPerEpoch: number): Checkpoint {
  const blockEpoch = Math.floor(block.slot / slotsPerEpoch);
  return currentEpoch > blockEpoch ? block.unrealizedJustified : block.justified;
}
