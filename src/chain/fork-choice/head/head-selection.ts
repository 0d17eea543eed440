import { ForkChoiceError } from "../error.ts";
import {
  hasFullVariant,
  NO_NODE,
  type PayloadVariant,
  type PayloadVariants,
  type ProtoArray,
  type ProtoNode,
} from "../tree/proto-array.ts";
import { isViableLeaf, nodesOnFinalizedChain, type ViabilityCriteria } from "../tree/viability.ts";
import type { ForkChoiceBlock } from "../types.ts";

interface HeadCriteria extends ViabilityCriteria {
  /** Node with the proposer boost, or NO_NODE. */
  boostedNode: number;
  boostScore: number;
  /** Total active balance, in the same unit as the votes. */
  totalActiveBalance: number;
  /** should_extend_payload (gloas/fork-choice.md), for a block of the previous slot whose payload is verified */
  shouldExtendPayload(block: ForkChoiceBlock): boolean;
}

/**
 * get_head, in two passes: forward to find the finalized chain, backward to sum weights and to
 * propagate the best viable leaf from child to parent. Only leaves are checked for viability, because a slashing in a
 * child can revert a justification by its parent. Falls back to the justified block, as specified. Since gloas, a block
 * is viable if any block built on it is, with or without its payload; the variant is chosen by weight alone.
 */
export function selectHead(tree: ProtoArray, criteria: HeadCriteria): number {
  const start = tree.indexOf(criteria.justified.root);
  if (start === NO_NODE) {
    throw new ForkChoiceError(
      "justified-block-unknown",
      `The justified block ${criteria.justified.root} of epoch ${criteria.justified.epoch} is not in the block tree.`,
    );
  }
  gatherWeights(tree, criteria);
  const { bestDescendant } = tree.nodeAt(start);
  return bestDescendant === NO_NODE ? start : bestDescendant;
}

function gatherWeights(tree: ProtoArray, criteria: HeadCriteria): void {
  const { nodes } = tree;
  const { boostedNode, boostScore } = criteria;
  const onFinalizedChain = nodesOnFinalizedChain(tree, criteria);
  const hasChild = new Uint8Array(tree.size);
  nodes.forEach((node, index) => {
    node.weight = node.votes + (index === boostedNode ? boostScore : 0);
    node.bestChild = NO_NODE;
    node.bestDescendant = NO_NODE;
    if (node.variants !== null) resetVariants(node.variants);
  });
  for (let index = nodes.length - 1; index >= 0; index--) {
    const node = nodes[index]!;
    const { variants } = node;
    if (variants !== null) chooseVariant(tree, node, variants, criteria);
    // sync/optimistic.md, "Fork Choice": an invalidated block is never canonical and adds no weight to its ancestors.
    if (variants === null ? node.block.execution.status === "invalid" : tree.isInvalid(index)) {
      node.weight = 0;
      continue;
    }
    const parent = nodes[node.parent];
    if (parent === undefined) continue;
    const branch = parent.variants === null ? parent : variantBelow(parent.variants, node);
    branch.weight += node.weight;
    if (onFinalizedChain[index] === 0 || isBeforeItsTime(node, criteria)) continue;
    hasChild[node.parent] = 1;
    const leadsToViableHead = hasChild[index] === 1 ? hasViableChild(node) : isViableLeaf(node.block, criteria);
    if (leadsToViableHead && isBetterChild(node, nodes[branch.bestChild])) {
      branch.bestChild = index;
      if (branch === parent) parent.bestDescendant = node.bestDescendant === NO_NODE ? index : node.bestDescendant;
    }
  }
}

function resetVariants({ empty, full }: PayloadVariants): void {
  empty.weight = empty.votes;
  empty.bestChild = NO_NODE;
  full.weight = full.votes;
  full.bestChild = NO_NODE;
}

/** Returns the variant of the parent that the block is built on. */
const variantBelow = ({ empty, full }: PayloadVariants, { isParentFull }: ProtoNode): PayloadVariant =>
  isParentFull ? full : empty;

/** Whether the chosen variant has a viable child does not matter for viability. */
function hasViableChild({ variants, bestChild }: ProtoNode): boolean {
  if (variants === null) return bestChild !== NO_NODE;
  return variants.empty.bestChild !== NO_NODE || variants.full.bestChild !== NO_NODE;
}

/** Adds up the weight of a block whose children have been visited, and chooses its best variant and descendant. */
function chooseVariant(tree: ProtoArray, node: ProtoNode, variants: PayloadVariants, criteria: HeadCriteria): void {
  const { empty, full } = variants;
  node.weight += empty.weight + full.weight;
  variants.chosen = isFullBetter(node, variants, criteria) ? "full" : "empty";
  node.bestChild = variants[variants.chosen].bestChild;
  if (node.bestChild === NO_NODE) return;
  const { bestDescendant } = tree.nodeAt(node.bestChild);
  node.bestDescendant = bestDescendant === NO_NODE ? node.bestChild : bestDescendant;
}

/** gloas/fork-choice.md, get_weight and get_payload_status_tiebreaker, for the two variants of one block */
function isFullBetter(node: ProtoNode, { empty, full }: PayloadVariants, criteria: HeadCriteria): boolean {
  if (!hasFullVariant(node)) return false;
  if (node.block.slot + 1 === criteria.currentSlot) return criteria.shouldExtendPayload(node.block);
  return full.weight >= empty.weight;
}

/**
 * Returns true for a block after the current slot, which occurs only if the clock was set back. Such blocks are ignored
 * unless a majority votes for them, because that would mean that the clock is wrong.
 */
function isBeforeItsTime({ block, weight }: ProtoNode, { currentSlot, totalActiveBalance }: HeadCriteria): boolean {
  return block.slot > currentSlot && 2 * weight <= totalActiveBalance;
}

/**
 * Breaks ties in favor of the lexicographically larger root. Lower-case hex strings of equal length compare like bytes.
 */
function isBetterChild(candidate: ProtoNode, best: ProtoNode | undefined): boolean {
  if (best === undefined) return true;
  if (candidate.weight !== best.weight) return candidate.weight > best.weight;
  return candidate.block.root > best.block.root;
}
