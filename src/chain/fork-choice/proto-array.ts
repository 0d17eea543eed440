import type { RootHex } from "@lodestar/types";
import type { ForkChoiceBlock } from "./types.ts";

/** Index that represents a missing node. */
export const NO_NODE = -1;

export interface ProtoNode {
  block: ForkChoiceBlock;
  /** Always less than the node's own index: parents are inserted first. */
  parent: number;
  /** Total balance of the validators whose latest message is for this block. */
  votes: number;
  /** Balance supporting the block and its descendants at the last head selection, including the proposer boost. */
  weight: number;
  bestChild: number;
  bestDescendant: number;
}

interface PruneResult {
  removed: ForkChoiceBlock[];
  /** Old index → new index; NO_NODE for removed nodes. */
  newIndexOf: Int32Array;
}

/**
 * Block tree as an array in insertion order. Parents come first, so a forward pass propagates from ancestors to
 * descendants, a backward pass sums weights towards ancestors, and a walk to an ancestor follows decreasing indices.
 */
export class ProtoArray {
  #nodes: ProtoNode[] = [];
  readonly #indexOf = new Map<RootHex, number>();

  get nodes(): readonly ProtoNode[] {
    return this.#nodes;
  }

  get size(): number {
    return this.#nodes.length;
  }

  /** Copies all nodes for `restore`. */
  capture(): ProtoNode[] {
    return this.#nodes.map((node) => ({ ...node }));
  }

  /** Replaces all nodes. */
  restore(nodes: ProtoNode[]): void {
    this.#nodes = nodes;
    this.#indexOf.clear();
    for (const [index, { block }] of nodes.entries()) this.#indexOf.set(block.root, index);
  }

  /** Adds a block and returns its index. A block without a known parent becomes a root. */
  insert(block: ForkChoiceBlock): number {
    const existingIndex = this.#indexOf.get(block.root);
    if (existingIndex !== undefined) return existingIndex;
    const index = this.#nodes.length;
    this.#nodes.push({
      block,
      parent: this.#indexOf.get(block.parentRoot) ?? NO_NODE,
      votes: 0,
      weight: 0,
      bestChild: NO_NODE,
      bestDescendant: NO_NODE,
    });
    this.#indexOf.set(block.root, index);
    return index;
  }

  indexOf(root: RootHex): number {
    return this.#indexOf.get(root) ?? NO_NODE;
  }

  nodeAt(index: number): ProtoNode {
    const node = this.#nodes[index];
    if (node === undefined) {
      throw new RangeError(`There is no node ${index} in a block tree of ${this.#nodes.length} nodes.`);
    }
    return node;
  }

  get(root: RootHex): ForkChoiceBlock | undefined {
    return this.#nodes[this.indexOf(root)]?.block;
  }

  parentOf(index: number): number {
    return this.nodeAt(index).parent;
  }

  /** Applies the change in voting balance for each node. */
  applyVoteDeltas(deltas: Float64Array): void {
    for (let index = 0; index < this.#nodes.length; index++) {
      this.#nodes[index]!.votes += deltas[index] ?? 0;
    }
  }

  /** phase0/fork-choice.md, get_ancestor: the chain's latest block at or before the slot. */
  ancestorAtSlot(index: number, slot: number): number {
    let current = index;
    for (let node = this.#nodes[current]; node !== undefined && node.block.slot > slot; node = this.#nodes[current]) {
      current = node.parent;
    }
    return current;
  }

  /** True if `ancestor` is on the chain of `index`. A node is its own ancestor. */
  isAncestor(ancestor: number, index: number): boolean {
    if (ancestor === NO_NODE) return false;
    let current = index;
    while (current > ancestor) current = this.parentOf(current);
    return current === ancestor;
  }

  commonAncestor(a: number, b: number): number {
    let [left, right] = [a, b];
    // The larger index cannot be an ancestor of the smaller one, so it steps back.
    while (left !== right) {
      if (left === NO_NODE || right === NO_NODE) return NO_NODE;
      if (left > right) left = this.parentOf(left);
      else right = this.parentOf(right);
    }
    return left;
  }

  /** Yields the block and its ancestors, newest first. */
  *chain(index: number): Generator<ForkChoiceBlock> {
    // Follow nodes instead of indices, because the tree may be pruned between steps.
    let node = this.#nodes[index];
    while (node !== undefined) {
      yield node.block;
      node = this.#nodes[this.indexOf(node.block.parentRoot)];
    }
  }

  /** Removes nodes. Kept nodes may lose their parent, but stay in order. */
  prune(keep: Uint8Array): PruneResult {
    const remaining: ProtoNode[] = [];
    const removed: ForkChoiceBlock[] = [];
    const newIndexOf = new Int32Array(this.#nodes.length).fill(NO_NODE);
    this.#nodes.forEach((node, index) => {
      if (keep[index] === 1) {
        newIndexOf[index] = remaining.length;
        this.#indexOf.set(node.block.root, remaining.length);
        remaining.push(node);
      } else {
        this.#indexOf.delete(node.block.root);
        removed.push(node.block);
      }
    });
    for (const node of remaining) {
      node.parent = newIndexOf[node.parent] ?? NO_NODE;
      node.bestChild = newIndexOf[node.bestChild] ?? NO_NODE;
      node.bestDescendant = newIndexOf[node.bestDescendant] ?? NO_NODE;
    }
    this.#nodes = remaining;
    return { removed, newIndexOf };
  }
}
