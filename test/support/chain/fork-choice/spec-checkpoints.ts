import type { RootHex } from "@lodestar/types";
import type { Checkpoint, ForkChoiceBlock } from "../../../../src/chain/fork-choice/types.ts";
import { SpecTree } from "./spec-tree.ts";

const GENESIS_EPOCH = 0;

interface SpecCheckpointsOptions {
  readonly anchor: ForkChoiceBlock;
  readonly checkpoint: Checkpoint;
  readonly currentSlot: number;
  readonly slotsPerEpoch: number;
}

/** Checkpoints and time of the specification's store, and the blocks that they allow as head (phase0/fork-choice.md). */
export class SpecCheckpoints extends SpecTree {
  currentSlot: number;
  justified: Checkpoint;
  finalized: Checkpoint;
  unrealizedJustified: Checkpoint;
  unrealizedFinalized: Checkpoint;
  readonly unrealizedJustifications = new Map<RootHex, Checkpoint>();

  constructor({ anchor, checkpoint, currentSlot, slotsPerEpoch }: SpecCheckpointsOptions) {
    super(slotsPerEpoch);
    this.blocks.set(anchor.root, anchor);
    this.unrealizedJustifications.set(anchor.root, checkpoint);
    this.currentSlot = currentSlot;
    this.justified = checkpoint;
    this.finalized = checkpoint;
    this.unrealizedJustified = checkpoint;
    this.unrealizedFinalized = checkpoint;
  }

  getFilteredBlockTree(): Set<RootHex> {
    const viable = new Set<RootHex>();
    this.#filterBlockTree(this.justified.root, viable);
    return viable;
  }

  protected computePulledUpTip(block: ForkChoiceBlock): void {
    const { unrealizedJustified, unrealizedFinalized } = block;
    this.unrealizedJustifications.set(block.root, unrealizedJustified);
    if (unrealizedJustified.epoch > this.unrealizedJustified.epoch) this.unrealizedJustified = unrealizedJustified;
    if (unrealizedFinalized.epoch > this.unrealizedFinalized.epoch) this.unrealizedFinalized = unrealizedFinalized;
    if (this.epochOf(block.slot) < this.epochOf(this.currentSlot)) {
      this.updateCheckpoints(unrealizedJustified, unrealizedFinalized);
    }
  }

  protected updateCheckpoints(justified: Checkpoint, finalized: Checkpoint): void {
    if (justified.epoch > this.justified.epoch) this.justified = justified;
    if (finalized.epoch > this.finalized.epoch) this.finalized = finalized;
  }

  #filterBlockTree(root: RootHex, viable: Set<RootHex>): boolean {
    const children = this.childBlocks(root);
    const isViable =
      children.length > 0
        ? children.map((child) => this.#filterBlockTree(child, viable)).includes(true)
        : this.#isViableLeaf(root);
    if (isViable) viable.add(root);
    return isViable;
  }

  #isViableLeaf(root: RootHex): boolean {
    const currentEpoch = this.epochOf(this.currentSlot);
    const source = this.#getVotingSource(root);
    const correctJustified =
      this.justified.epoch === GENESIS_EPOCH ||
      source.epoch === this.justified.epoch ||
      source.epoch + 2 >= currentEpoch;
    const correctFinalized =
      this.finalized.epoch === GENESIS_EPOCH ||
      this.finalized.root === this.getCheckpointBlock(root, this.finalized.epoch);
    return correctJustified && correctFinalized;
  }

  #getVotingSource(root: RootHex): Checkpoint {
    const block = this.blocks.get(root)!;
    const isOfPriorEpoch = this.epochOf(this.currentSlot) > this.epochOf(block.slot);
    return isOfPriorEpoch ? this.unrealizedJustifications.get(root)! : block.justified;
  }
}
