import type { RootHex } from "@lodestar/types";
import type { ForkChoiceBlock } from "./types.ts";

/** Stands where an index would stand when there is no such node. */
export const NO_NODE = -1;

export interface ProtoNode {
  block: ForkChoiceBlock;
  /** Always smaller than the node's own index, because a parent is inserted before its children. */
  parent: number;
  /** Balance of the validators whose latest message names this very block. */
  votes: number;
  /** Balance behind the block and all its descendants, boost included, as of the last head selection. */
  weight: number;
  bestChild: number;
  bestDescendant: number;
}

interface PruneResult {
  removed: ForkChoiceBlock[];
  /** For every index before pruning the index after it, or NO_NODE for a node that was removed. */
  newIndexOf: Int32Array;
}

/**
 * The block tree as one array in order of insertion. Because parents come first, one pass from the front carries facts
 * from ancestors to descendants, one pass from the back gathers weights from descendants to ancestors, and a walk to an
 * ancestor follows falling indices.
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

  /** All nodes as they are now, for `restore`. */
  capture(): ProtoNode[] {
    return this.#nodes.map((node) => ({ ...node }));
  }

  /** Takes the nodes over. */
  restore(nodes: ProtoNode[]): void {
    this.#nodes = nodes;
    this.#indexOf.clear();
    for (const [index, { block }] of nodes.entries()) this.#indexOf.set(block.root, index);
  }

  /** Adds a block and returns its index. A block whose parent is not in the array becomes a root of its own. */
  insert(block: ForkChoiceBlock): number {
    const known = this.#indexOf.get(block.root);
    if (known !== undefined) return known;
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

  /** Adds to each block the change of the balance that votes for it. */
  applyVoteDeltas(deltas: Float64Array): void {
    for (let index = 0; index < this.#nodes.length; index++) {
      this.#nodes[index]!.votes += deltas[index] ?? 0;
    }
  }

  /** get_ancestor of phase0/fork-choice.md: the latest block of the chain at or before the slot. */
  ancestorAtSlot(index: number, slot: number): number {
    let current = index;
    for (let node = this.#nodes[current]; node !== undefined && node.block.slot > slot; node = this.#nodes[current]) {
      current = node.parent;
    }
    return current;
  }

  /** Whether the ancestor lies on the chain of the node; a node is its own ancestor. */
  isAncestor(ancestor: number, index: number): boolean {
    if (ancestor === NO_NODE) return false;
    let current = index;
    while (current > ancestor) current = this.parentOf(current);
    return current === ancestor;
  }

  commonAncestor(a: number, b: number): number {
    let [left, right] = [a, b];
    // The larger index cannot be an ancestor of the smaller one, so it is always the one to step back.
    while (left !== right) {
      if (left === NO_NODE || right === NO_NODE) return NO_NODE;
      if (left > right) left = this.parentOf(left);
      else right = this.parentOf(right);
    }
    return left;
  }

  /** The block itself, its parent and so on to the first block the array holds. */
  *chain(index: number): Generator<ForkChoiceBlock> {
    // Nodes are followed, not indices, so that pruning between two steps cannot lead the walk astray.
    let node = this.#nodes[index];
    while (node !== undefined) {
      yield node.block;
      node = this.#nodes[this.indexOf(node.block.parentRoot)];
    }
  }

  /** Removes the nodes that are not to be kept. What is kept may lose its parent, never its place in the order. */
  prune(keep: Uint8Array): PruneResult {
    const kept: ProtoNode[] = [];
    const removed: ForkChoiceBlock[] = [];
    const newIndexOf = new Int32Array(this.#nodes.length).fill(NO_NODE);
    this.#nodes.forEach((node, index) => {
      if (keep[index] === 1) {
        newIndexOf[index] = kept.length;
        this.#indexOf.set(node.block.root, kept.length);
        kept.push(node);
      } else {
        this.#indexOf.delete(node.block.root);
        removed.push(node.block);
      }
    });
    for (const node of kept) {
      node.parent = newIndexOf[node.parent] ?? NO_NODE;
      node.bestChild = newIndexOf[node.bestChild] ?? NO_NODE;
      node.bestDescendant = newIndexOf[node.bestDescendant] ?? NO_NODE;
    }
    this.#nodes = kept;
    return { removed, newIndexOf };
  }
}
