import { NO_NODE, type ProtoArray, TARGETS_PER_NODE } from "../tree/proto-array.ts";
import type { Votes } from "../votes/votes.ts";

/** Sums of latest messages, in increments, which the fast confirmation rule compares with thresholds. */
export class VoteSupport {
  readonly #tree: ProtoArray;
  readonly #votes: Votes;
  readonly #slotsPerEpoch: number;

  constructor(tree: ProtoArray, votes: Votes, slotsPerEpoch: number) {
    this.#tree = tree;
    this.#votes = votes;
    this.#slotsPerEpoch = slotsPerEpoch;
  }

  get hasEquivocations(): boolean {
    return this.#votes.hasEquivocations;
  }

  isEquivocating(validator: number): boolean {
    return this.#votes.isEquivocating(validator);
  }

  /**
   * get_attestation_score of all blocks, by index in the tree. Leaves out branches on invalid payloads, like weights.
   * Takes no pass over the votes if the last head selection counted them with the same balances.
   */
  attestationScores(balances: Uint16Array): Float64Array {
    const { nodes } = this.#tree;
    const scores = this.#votes.hasDeltas(balances) ? this.#countVotes(balances) : this.#countedVotes();
    for (let index = nodes.length - 1; index >= 0; index--) {
      if (this.#tree.isInvalid(index)) scores[index] = 0;
      const { parent } = nodes[index]!;
      if (parent !== NO_NODE) scores[parent]! += scores[index]!;
    }
    return scores;
  }

  /** Returns a test for validators whose latest message is for the block itself, which is valid until the next change. */
  votersFor(block: number): (validator: number) => boolean {
    const { targets } = this.#votes.current();
    const first = block * TARGETS_PER_NODE;
    return (validator) => {
      const target = targets[validator] ?? NO_NODE;
      return target >= first && target < first + TARGETS_PER_NODE;
    };
  }

  /** get_current_target_score: balance of the validators whose latest message is of the epoch and for the checkpoint. */
  targetScore(checkpointBlock: number, epoch: number, balances: Uint16Array): number {
    const hasTarget = this.#nodesWithCheckpoint(checkpointBlock, epoch * this.#slotsPerEpoch);
    const { targets, slots } = this.#votes.current();
    // Slots are stored plus one.
    const first = epoch * this.#slotsPerEpoch + 1;
    const last = first + this.#slotsPerEpoch - 1;
    const count = Math.min(targets.length, balances.length);
    let score = 0;
    for (let validator = 0; validator < count; validator++) {
      const target = targets[validator]!;
      const slot = slots[validator]!;
      if (target === NO_NODE || slot < first || slot > last) continue;
      if (hasTarget[Math.floor(target / TARGETS_PER_NODE)] === 1) score += balances[validator]!;
    }
    return score;
  }

  /** Marks the blocks whose latest ancestor at or before the slot is the checkpoint's block. */
  #nodesWithCheckpoint(checkpointBlock: number, firstSlot: number): Uint8Array {
    const marks = new Uint8Array(this.#tree.size);
    this.#tree.nodes.forEach(({ block, parent }, index) => {
      const isMarked = block.slot > firstSlot ? parent !== NO_NODE && marks[parent] === 1 : index === checkpointBlock;
      if (isMarked) marks[index] = 1;
    });
    return marks;
  }

  #countedVotes(): Float64Array {
    return Float64Array.from(this.#tree.nodes, ({ votes, variants }) =>
      variants === null ? votes : votes + variants.empty.votes + variants.full.votes,
    );
  }

  #countVotes(balances: Uint16Array): Float64Array {
    const { targets } = this.#votes.current();
    const count = Math.min(targets.length, balances.length);
    const byTarget = new Float64Array(this.#tree.size * TARGETS_PER_NODE);
    for (let validator = 0; validator < count; validator++) {
      const target = targets[validator]!;
      if (target !== NO_NODE) byTarget[target]! += balances[validator]!;
    }
    const votes = new Float64Array(this.#tree.size);
    for (let target = 0; target < byTarget.length; target++) {
      votes[Math.floor(target / TARGETS_PER_NODE)]! += byTarget[target]!;
    }
    return votes;
  }
}
