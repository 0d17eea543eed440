import { GENESIS_SLOT, MIN_SEED_LOOKAHEAD } from "@lodestar/params";
import { ForkChoiceError } from "./error.ts";
import { NO_NODE, type ProtoArray, type ProtoNode } from "./proto-array.ts";
import { isViableLeaf, nodesOnFinalizedChain, type ViabilityCriteria } from "./viability.ts";

interface HeadCriteria extends ViabilityCriteria {
  /** The node that carries the proposer boost, or NO_NODE. */
  boostedNode: number;
  boostScore: number;
  /** Balance of all active validators, in the unit of the votes. */
  totalActiveBalance: number;
}

/**
 * get_head of phase0/fork-choice.md in two passes over the tree: the first finds the finalized chain, the second, from the
 * last node to the first, adds up weights and lets each node that leads to a viable leaf offer itself to its parent as the
 * best child. Leaves alone are asked whether they are viable: what a block justified its child can undo by a slashing.
 * When no descendant of the justified block is viable the head is the justified block, as in the specification.
 */
export function selectHead(tree: ProtoArray, criteria: HeadCriteria): number {
  const start = tree.indexOf(criteria.justified.root);
  if (start === NO_NODE) {
    throw new ForkChoiceError(
      "justified-block-unknown",
      `The justified block ${criteria.justified.root} of epoch ${criteria.justified.epoch} is not in the block tree; the head is searched among its descendants.`,
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
    // "Fork Choice" of sync/optimistic.md: an invalidated block is never canonical and adds no weight to its ancestors.
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
 * A block of a later slot than the current one is there only when the clock was set back. It waits for its time, unless most
 * validators vouch for it: then it is the clock that is wrong.
 */
function isBeforeItsTime({ block, weight }: ProtoNode, { currentSlot, totalActiveBalance }: HeadCriteria): boolean {
  return block.slot > currentSlot && 2 * weight <= totalActiveBalance;
}

/** Ties go to the lexicographically larger root; roots are lower-case hex of one length, so strings compare as bytes. */
function isBetterChild(candidate: ProtoNode, best: ProtoNode | undefined): boolean {
  if (best === undefined) return true;
  if (candidate.weight !== best.weight) return candidate.weight > best.weight;
  return candidate.block.root > best.block.root;
}

/**
 * compute_proposer_score of phase0/fork-choice.md, in the unit of the balance. The specification rounds down to a Gwei;
 * in whole increments of 1 ETH and with a power of two as slots per epoch nothing is left to round, and rounding to
 * an increment would be wrong.
 */
export function proposerBoostScore(totalActiveBalance: number, slotsPerEpoch: number, boostPercent: number): number {
  return (totalActiveBalance * boostPercent) / (slotsPerEpoch * 100);
}

/** compute_shuffling_dependent_slot of phase0/fork-choice.md: the last slot that decides an epoch's proposers. */
export function shufflingDependentSlot(epoch: number, slotsPerEpoch: number): number {
  return epoch <= MIN_SEED_LOOKAHEAD ? GENESIS_SLOT : (epoch - MIN_SEED_LOOKAHEAD) * slotsPerEpoch - 1;
}
