import { GENESIS_SLOT, MIN_SEED_LOOKAHEAD } from "@lodestar/params";
import { NO_NODE, type ProtoArray } from "../tree/proto-array.ts";

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

/**
 * get_attestation_score: balance of the votes for the block and its descendants, before weights are summed. Cheap for
 * recent blocks, whose descendants are at the end of the tree. Leaves out branches on invalid payloads, like weights.
 */
export function attestationScoreOf(tree: ProtoArray, index: number): number {
  const { nodes } = tree;
  const descends = new Uint8Array(tree.size - index);
  let score = 0;
  for (let current = index; current < tree.size; current++) {
    const { parent, votes, variants } = nodes[current]!;
    if (current !== index && (parent < index || descends[parent - index] === 0)) continue;
    if (tree.isInvalid(current)) continue;
    descends[current - index] = 1;
    score += votes + (variants === null ? 0 : variants.empty.votes + variants.full.votes);
  }
  return score;
}

interface BoostCriteria {
  /** is_head_weak */
  isWeak(index: number): boolean;
  /** True if the block arrived before the deadline of payload attestations. */
  isPtcTimely(index: number): boolean;
}

/**
 * gloas/fork-choice.md, should_apply_proposer_boost: refuses the boost if its block builds on a weak block of the
 * previous slot whose proposer equivocated early. Before gloas, the boost always applies.
 */
export function shouldApplyProposerBoost(tree: ProtoArray, boostedNode: number, criteria: BoostCriteria): boolean {
  if (boostedNode === NO_NODE) return false;
  const { block, parent } = tree.nodeAt(boostedNode);
  if (block.bid === undefined || parent === NO_NODE) return true;
  const { slot, proposerIndex } = tree.nodeAt(parent).block;
  if (slot + 1 < block.slot || !criteria.isWeak(parent)) return true;
  return !tree.nodes.some(({ block: other }, index) => {
    const isOther = index !== parent && other.slot + 1 === block.slot && other.proposerIndex === proposerIndex;
    return isOther && criteria.isPtcTimely(index);
  });
}
