import type { RootHex } from "@lodestar/types";
import { type ForkChoiceBlock, isPayloadVerified, type PayloadStatus } from "../types.ts";

/** Index that represents a missing node. */
export const NO_NODE = -1;

/** A node has three targets of votes, one for each payload status (gloas/fork-choice.md, get_supported_node). */
export const TARGETS_PER_NODE = 3;
const TARGET_STATUSES = ["pending", "empty", "full"] as const satisfies readonly PayloadStatus[];

/** Returns the target of a vote for the node. */
export function voteTarget(index: number, status: PayloadStatus): number {
  return index * TARGETS_PER_NODE + TARGET_STATUSES.indexOf(status);
}

/** Maps the node of a vote target and keeps the payload status. */
export function mapVoteTarget(target: number, newIndexOf: ArrayLike<number>): number {
  if (target === NO_NODE) return NO_NODE;
  const index = Math.floor(target / TARGETS_PER_NODE);
  const mapped = newIndexOf[index] ?? NO_NODE;
  return mapped === NO_NODE ? NO_NODE : mapped * TARGETS_PER_NODE + (target - index * TARGETS_PER_NODE);
}

/** A block with or without its payload: a ForkChoiceNode of status EMPTY or FULL (gloas/fork-choice.md). */
export interface PayloadVariant {
  /** Total balance of the validators whose latest message is for this variant. */
  votes: number;
  /** Balance supporting the variant and the blocks built on it. */
  weight: number;
  bestChild: number;
}

export interface PayloadVariants {
  readonly empty: PayloadVariant;
  readonly full: PayloadVariant;
  /** Variant chosen at the last head selection. */
  chosen: "empty" | "full";
}

/** A block; since gloas, its node of status PENDING, with the other two as `variants`. */
export interface ProtoNode {
  block: ForkChoiceBlock;
  /** Always less than the node's own index: parents are inserted first. */
  parent: number;
  /** is_parent_node_full (gloas/fork-choice.md) */
  isParentFull: boolean;
  /** Nearest ancestor whose payload is on the block's chain. Before gloas, the parent. */
  payloadParent: number;
  /** Null before gloas. */
  variants: PayloadVariants | null;
  /** Total balance of the validators whose latest message is for this block, regardless of its payload. */
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
    return this.#nodes.map((node) => ({ ...node, variants: copyOf(node.variants) }));
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
    const parent = this.#indexOf.get(block.parentRoot) ?? NO_NODE;
    const parentNode = this.#nodes[parent];
    const isParentFull = parentNode === undefined || buildsOnPayloadOf(parentNode.block, block);
    this.#nodes.push({
      block,
      parent,
      isParentFull,
      payloadParent: isParentFull ? parent : parentNode.payloadParent,
      variants: block.bid === undefined ? null : { empty: noVotes(), full: noVotes(), chosen: "empty" },
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

  payloadParentOf(index: number): number {
    return this.nodeAt(index).payloadParent;
  }

  /** Applies the change in voting balance for each vote target. */
  applyVoteDeltas(deltas: Float64Array): void {
    for (let index = 0, target = 0; index < this.#nodes.length; index++, target += TARGETS_PER_NODE) {
      const node = this.#nodes[index]!;
      node.votes += deltas[target] ?? 0;
      if (node.variants === null) continue;
      node.variants.empty.votes += deltas[target + 1] ?? 0;
      node.variants.full.votes += deltas[target + 2] ?? 0;
    }
  }

  /**
   * Returns true if a payload on the block's chain is invalid. Before gloas, the block's own payload is on its chain.
   * An invalid payload makes all payloads built on it invalid, so only the nearest one has to be checked.
   */
  isInvalid(index: number): boolean {
    const node = this.nodeAt(index);
    const own = node.variants === null ? node : this.#nodes[node.payloadParent];
    return own?.block.execution.status === "invalid";
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
      node.payloadParent = newIndexOf[node.payloadParent] ?? NO_NODE;
      node.bestChild = newIndexOf[node.bestChild] ?? NO_NODE;
      node.bestDescendant = newIndexOf[node.bestDescendant] ?? NO_NODE;
    }
    this.#nodes = remaining;
    return { removed, newIndexOf };
  }
}

/** gloas/fork-choice.md, is_parent_node_full. A parent from before gloas is always full. */
export function buildsOnPayloadOf(parent: ForkChoiceBlock, { bid }: ForkChoiceBlock): boolean {
  return bid === undefined || parent.bid === undefined || bid.parentBlockHash === parent.bid.blockHash;
}

/** True if the node of status FULL exists (gloas/fork-choice.md, get_node_children). */
export const hasFullVariant = ({ block, variants }: ProtoNode): boolean =>
  variants !== null && isPayloadVerified(block);

const noVotes = (): PayloadVariant => ({ votes: 0, weight: 0, bestChild: NO_NODE });

function copyOf(variants: PayloadVariants | null): PayloadVariants | null {
  return variants && { ...variants, empty: { ...variants.empty }, full: { ...variants.full } };
}
