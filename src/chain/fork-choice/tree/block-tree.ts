import type { RootHex } from "@lodestar/types";
import {
  type Checkpoint,
  type ForkChoiceBlock,
  type ForkChoiceNode,
  type PayloadStatus,
  sameCheckpoint,
} from "../types.ts";
import { NO_NODE, type ProtoArray, type ProtoNode } from "./proto-array.ts";

/** Queries on the block tree that need no votes: ancestry, canonical chain, branches. */
export abstract class BlockTree {
  protected readonly tree: ProtoArray;
  protected readonly slotsPerEpoch: number;
  /**
   * Caches which nodes descend from the finalized block, because descent is checked for every message and paths can be
   * long.
   */
  #descent: { finalized: Checkpoint; nodes: WeakSet<ProtoNode> } | null = null;
  /** Null without the fast confirmation rule. */
  #confirmedRoot: RootHex | null = null;

  protected constructor(tree: ProtoArray, slotsPerEpoch: number) {
    this.tree = tree;
    this.slotsPerEpoch = slotsPerEpoch;
  }

  abstract get head(): ForkChoiceBlock;
  abstract get justified(): Checkpoint;
  abstract get finalized(): Checkpoint;
  abstract get currentSlot(): number;

  has(root: RootHex): boolean {
    return this.tree.indexOf(root) !== NO_NODE;
  }

  get(root: RootHex): ForkChoiceBlock | undefined {
    return this.tree.get(root);
  }

  /** Index in the tree, which changes with pruning; NO_NODE if unknown. */
  indexOf(root: RootHex): number {
    return this.tree.indexOf(root);
  }

  /** The finalized block. If no chain contains it, because the anchor is in the middle of an epoch, the oldest block. */
  get finalizedBlock(): ForkChoiceBlock {
    return this.get(this.finalized.root) ?? this.tree.nodeAt(0).block;
  }

  /** Sets the block that the fast confirmation rule has confirmed. */
  setConfirmed(root: RootHex): void {
    this.#confirmedRoot = root;
  }

  /**
   * Root of the block that is safe from reorganisations: the confirmed block while it is canonical and later than the
   * finalized block, otherwise the finalized block. Without the fast confirmation rule, the justified block.
   */
  get safeRoot(): RootHex {
    if (this.#confirmedRoot === null) return this.justified.root;
    const confirmed = this.get(this.#confirmedRoot);
    const isLater = confirmed !== undefined && confirmed.slot > this.finalizedBlock.slot;
    return isLater && this.isDescendant(confirmed.root, this.head.root) ? confirmed.root : this.finalized.root;
  }

  /** phase0/fork-choice.md, get_ancestor. Returns undefined if the tree does not reach back to the slot. */
  ancestorAtSlot(root: RootHex, slot: number): RootHex | undefined {
    return this.#blockAt(this.tree.ancestorAtSlot(this.tree.indexOf(root), slot))?.root;
  }

  /** Returns true if `ancestorRoot` is on the chain of `root`. A block descends from itself. */
  isDescendant(ancestorRoot: RootHex, root: RootHex): boolean {
    return this.tree.isAncestor(this.tree.indexOf(ancestorRoot), this.tree.indexOf(root));
  }

  /** True if get_checkpoint_block (phase0/fork-choice.md) at the finalized epoch returns the finalized root. */
  isDescendantOfFinalized(root: RootHex): boolean {
    const { epoch, root: finalizedRoot } = this.finalized;
    if (this.#descent === null || !sameCheckpoint(this.finalized, this.#descent.finalized)) {
      this.#descent = { finalized: this.finalized, nodes: new WeakSet() };
    }
    const { nodes } = this.#descent;
    const firstSlot = epoch * this.slotsPerEpoch;
    const path: ProtoNode[] = [];
    let node = this.tree.nodes[this.tree.indexOf(root)];
    while (node !== undefined && !nodes.has(node) && node.block.slot > firstSlot && node.block.root !== finalizedRoot) {
      path.push(node);
      node = this.tree.nodes[node.parent];
    }
    if (node === undefined || (!nodes.has(node) && node.block.root !== finalizedRoot)) return false;
    for (const pathNode of path) nodes.add(pathNode);
    return true;
  }

  /** gloas/fork-choice.md, get_ancestor. Returns undefined if the tree does not reach back to the slot. */
  ancestorNodeAtSlot({ root, payloadStatus }: ForkChoiceNode, slot: number): ForkChoiceNode | undefined {
    let isFull: boolean | null = null;
    let node = this.tree.nodes[this.tree.indexOf(root)];
    while (node !== undefined && node.block.slot > slot) {
      isFull = node.isParentFull;
      node = this.tree.nodes[node.parent];
    }
    if (node === undefined) return undefined;
    return { root: node.block.root, payloadStatus: isFull === null ? payloadStatus : isFull ? "full" : "empty" };
  }

  /** Iterates the block and its ancestors, newest first. */
  ancestors(root: RootHex): Iterable<ForkChoiceBlock> {
    return this.tree.chain(this.tree.indexOf(root));
  }

  /** True if a payload on the block's chain is invalid. Since gloas, the block's own payload is not on its chain. */
  isInvalidBlock(root: RootHex): boolean {
    const index = this.tree.indexOf(root);
    return index !== NO_NODE && this.tree.isInvalid(index);
  }

  /** True if all payloads on the block's chain are known to be valid. Since gloas, its own is not on its chain. */
  isVerifiedBlock(root: RootHex): boolean {
    const node = this.tree.nodes[this.tree.indexOf(root)];
    if (node === undefined) return false;
    const newest = node.variants === null ? node : this.tree.nodes[node.payloadParent];
    const status = newest?.block.execution.status;
    return status !== "optimistic" && status !== "invalid";
  }

  /** get_parent_payload_status: the variant of its parent that a block in the tree builds on. */
  parentPayloadStatus(root: RootHex): PayloadStatus {
    return this.tree.nodes[this.tree.indexOf(root)]?.isParentFull === false ? "empty" : "full";
  }

  /** Returns the variant of a block that the last head selection preferred. Before gloas always "full". */
  payloadStatusOf(root: RootHex): "empty" | "full" {
    return this.tree.nodes[this.tree.indexOf(root)]?.variants?.chosen ?? "full";
  }

  /**
   * Returns the block with the newest payload on the node's chain, even if the payload is invalid. Returns undefined if
   * that block has been pruned. Before gloas, it is the block of the node.
   */
  payloadBlock({ root, payloadStatus }: ForkChoiceNode): ForkChoiceBlock | undefined {
    const node = this.tree.nodes[this.tree.indexOf(root)];
    if (node === undefined || node.variants === null || payloadStatus === "full") return node?.block;
    return this.#blockAt(node.payloadParent);
  }

  /** Iterates the blocks with the payloads on the chain of a block's own payload, newest first. */
  *payloadChain(root: RootHex): Generator<ForkChoiceBlock> {
    let node = this.tree.nodes[this.tree.indexOf(root)];
    while (node !== undefined) {
      yield node.block;
      node = this.tree.nodes[node.payloadParent];
    }
  }

  /** Returns the blocks of the payload chain, newest first, stopping before the first one that is not optimistic. */
  optimisticAncestors(root: RootHex): ForkChoiceBlock[] {
    const optimistic: ForkChoiceBlock[] = [];
    for (const block of this.payloadChain(root)) {
      if (block.execution.status !== "optimistic") break;
      optimistic.push(block);
    }
    return optimistic;
  }

  /** Returns the block of the first payload of each invalid branch. */
  invalidBranchRoots(): ForkChoiceBlock[] {
    const isInvalid = (block: ForkChoiceBlock | undefined) => block?.execution.status === "invalid";
    return this.tree.nodes
      .filter(({ block, payloadParent }) => isInvalid(block) && !isInvalid(this.#blockAt(payloadParent)))
      .map(({ block }) => block);
  }

  /** Returns true if the block is not archived yet. The root of the tree is the last archived block. */
  isHot({ parentRoot }: Pick<ForkChoiceBlock, "parentRoot">): boolean {
    return this.has(parentRoot);
  }

  /** Returns the latest canonical block at or before the slot. */
  canonicalAtSlot(slot: number): ForkChoiceBlock | undefined {
    return this.#blockAt(this.tree.ancestorAtSlot(this.tree.indexOf(this.head.root), slot));
  }

  commonAncestor(rootA: RootHex, rootB: RootHex): ForkChoiceBlock | undefined {
    return this.#blockAt(this.tree.commonAncestor(this.tree.indexOf(rootA), this.tree.indexOf(rootB)));
  }

  leaves(): ForkChoiceBlock[] {
    const hasChild = new Uint8Array(this.tree.size);
    for (const { parent } of this.tree.nodes) if (parent !== NO_NODE) hasChild[parent] = 1;
    return this.tree.nodes.filter((_, index) => hasChild[index] === 0).map(({ block }) => block);
  }

  childrenOf(root: RootHex): ForkChoiceBlock[] {
    return this.#blocksWhere((block) => block.parentRoot === root);
  }

  blocksAtSlot(slot: number): ForkChoiceBlock[] {
    return this.#blocksWhere((block) => block.slot === slot);
  }

  /** is_proposer_equivocation, limited to blocks whose proposer is known. */
  isProposerEquivocation({ root, slot, proposerIndex }: ForkChoiceBlock): boolean {
    if (proposerIndex === undefined) return false;
    return this.blocksAtSlot(slot).some((other) => other.root !== root && other.proposerIndex === proposerIndex);
  }

  /** Iterates all blocks, parents before children. */
  all(): Iterable<ForkChoiceBlock> {
    return this.tree.nodes.map(({ block }) => block);
  }

  /**
   * get_weight: the balance supporting the node and its descendants at the last head selection, in increments; 0 if
   * unknown.
   */
  weightOf(root: RootHex, payloadStatus: PayloadStatus = "pending"): number {
    const node = this.tree.nodes[this.tree.indexOf(root)];
    if (node === undefined) return 0;
    if (payloadStatus === "pending" || node.variants === null) return node.weight;
    // is_previous_slot_payload_decision
    return node.block.slot + 1 === this.currentSlot ? 0 : node.variants[payloadStatus].weight;
  }

  /**
   * Returns the nodes of a block with their stored weights: since gloas regardless of its payload, without it and, if it
   * has been delivered, with it.
   */
  nodesOf(root: RootHex): { payloadStatus: PayloadStatus; weight: number }[] {
    const node = this.tree.nodes[this.tree.indexOf(root)];
    if (node === undefined) return [];
    const { block, weight, variants } = node;
    if (variants === null) return [{ payloadStatus: "full", weight }];
    const full = { payloadStatus: "full" as const, weight: variants.full.weight };
    return [
      { payloadStatus: "pending", weight },
      { payloadStatus: "empty", weight: variants.empty.weight },
      ...(block.execution.status === "absent" ? [] : [full]),
    ];
  }

  protected epochOf(slot: number): number {
    return Math.floor(slot / this.slotsPerEpoch);
  }

  #blocksWhere(matches: (block: ForkChoiceBlock) => boolean): ForkChoiceBlock[] {
    return this.tree.nodes.filter(({ block }) => matches(block)).map(({ block }) => block);
  }

  #blockAt(index: number): ForkChoiceBlock | undefined {
    return this.tree.nodes[index]?.block;
  }
}
