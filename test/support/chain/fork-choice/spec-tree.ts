import type { RootHex } from "@lodestar/types";
import type { ForkChoiceBlock, ForkChoiceNode, PayloadStatus } from "../../../../src/chain/fork-choice/types.ts";

/**
 * Blocks and verified payloads of the specification's store, with the functions on nodes of gloas/fork-choice.md. A
 * block from before gloas has only one variant, which is full.
 */
export class SpecTree {
  readonly blocks = new Map<RootHex, ForkChoiceBlock>();
  /** Blocks whose payloads are verified: the keys of `payloads`. */
  readonly payloads = new Set<RootHex>();
  protected readonly slotsPerEpoch: number;

  constructor(slotsPerEpoch: number) {
    this.slotsPerEpoch = slotsPerEpoch;
  }

  /** is_payload_verified */
  isPayloadVerified(root: RootHex): boolean {
    return this.blocks.get(root)?.bid === undefined || this.payloads.has(root);
  }

  /** get_parent_payload_status. The parent is known. */
  parentPayloadStatus({ bid, parentRoot }: ForkChoiceBlock): PayloadStatus {
    const parent = this.blocks.get(parentRoot)?.bid;
    return bid === undefined || parent === undefined || bid.parentBlockHash === parent.blockHash ? "full" : "empty";
  }

  /** get_ancestor. Before the oldest block, the store knows only that block's parent root. */
  getAncestor(node: ForkChoiceNode, slot: number): ForkChoiceNode {
    let ancestor = node;
    for (
      let block = this.blocks.get(node.root);
      block !== undefined && block.slot > slot;
      block = this.blocks.get(ancestor.root)
    ) {
      ancestor = { root: block.parentRoot, payloadStatus: this.parentPayloadStatus(block) };
    }
    return ancestor;
  }

  /** is_ancestor */
  isAncestor(node: ForkChoiceNode, ancestor: ForkChoiceNode): boolean {
    const { root, payloadStatus } = this.getAncestor(node, this.blocks.get(ancestor.root)!.slot);
    if (root !== ancestor.root) return false;
    return payloadStatus === ancestor.payloadStatus || ancestor.payloadStatus === "pending";
  }

  /** get_checkpoint_block */
  getCheckpointBlock(root: RootHex, epoch: number): RootHex {
    return this.getAncestor({ root, payloadStatus: "pending" }, epoch * this.slotsPerEpoch).root;
  }

  /** get_node_children */
  nodeChildren(blocks: Iterable<RootHex>, { root, payloadStatus }: ForkChoiceNode): ForkChoiceNode[] {
    if (payloadStatus === "pending") {
      const statuses: PayloadStatus[] = this.blocks.get(root)!.bid === undefined ? [] : ["empty"];
      if (this.isPayloadVerified(root)) statuses.push("full");
      return statuses.map((status) => ({ root, payloadStatus: status }));
    }
    const children: ForkChoiceNode[] = [];
    for (const child of blocks) {
      const block = this.blocks.get(child)!;
      if (block.parentRoot !== root || this.parentPayloadStatus(block) !== payloadStatus) continue;
      children.push({ root: child, payloadStatus: "pending" });
    }
    return children;
  }

  childBlocks(root: RootHex): RootHex[] {
    const children: RootHex[] = [];
    for (const block of this.blocks.values()) if (block.parentRoot === root) children.push(block.root);
    return children;
  }

  protected epochOf(slot: number): number {
    return Math.floor(slot / this.slotsPerEpoch);
  }
}
