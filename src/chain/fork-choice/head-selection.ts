import { GENESIS_SLOT, MIN_SEED_LOOKAHEAD } from "@lodestar/params";
import { ForkChoiceError } from "./error.ts";
import { NO_NODE, type ProtoArray, type ProtoNode } from "./proto-array.ts";
import { isViableLeaf, nodesOnFinalizedChain, type ViabilityCriteria } from "./viability.ts";

interface HeadCriteria extends ViabilityCriteria {
  /** Node with the proposer boost, or NO_NODE. */
  boostedNode: number;
  boostScore: number;
  /** Total active balance, in the same unit as the votes. */
  totalActiveBalance: number;
}

/**
 * phase0/fork-choice.md, get_head, in two passes: forward to find the finalized chain, backward to sum weights and to
 * propagate the best viable leaf from child to parent. Only leaves are checked for viability, because a slashing in a
 * child can revert a justification by its parent. Falls back to the justified block, as specified.
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
  });
  for (let index = nodes.length - 1; index >= 0; index--) {
    const node = nodes[index]!;
    // sync/optimistic.md, "Fork Choice": an invalidated block is never canonical and adds no weight to its ancestors.
    if (node.block.execution.status === "invalid") {
      node.weight = 0;
      continue;
    }
    const parent = nodes[node.parent];
    if (parent === undefined) continue;
    parent.weight += node.weight;
    if (onFinalizedChain[index] === 0 || isBeforeItsTime(node, criteria)) continue;
    hasChild[node.parent] = 1;
    const leadsToViableHead = hasChild[index] === 1 ? node.bestChild !== NO_NODE : isViableLeaf(node.block, criteria);
    if (leadsToViableHead && isBetterChild(node, nodes[parent.bestChild])) {
      parent.bestChild = index;
      parent.bestDescendant = node.bestDescendant === NO_NODE ? index : node.bestDescendant;
    }
  }
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

/**
 * phase0/fork-choice.md, compute_proposer_score, in the same unit as the balance. The specification rounds down to
 * Gwei, so rounding to increments would be wrong. In increments of 1 ETH, the result is exact if the number of slots
 * per epoch is a power of two.
 */
export function proposerBoostScore(totalActiveBalance: number, slotsPerEpoch: number, boostPercent: number): number {
  return (totalActiveBalance * boostPercent) / (slotsPerEpoch * 100);
}

/** phase0/fork-choice.md, compute_shuffling_dependent_slot: the last slot that determines an epoch's proposers. */
export function shufflingDependentSlot(epoch: number, slotsPerEpoch: number): number {
  return epoch <= MIN_SEED_LOOKAHEAD ? GENESIS_SLOT : (epoch - MIN_SEED_LOOKAHEAD) * slotsPerEpoch - 1;
}
