import type { RootHex } from "@lodestar/types";
import type { Checkpoint, ForkChoiceBlock } from "./types.ts";

/**
 * The store of phase0/fork-choice.md done the slow way, function by function as the specification defines them, for
 * tests to compare with. Blocks are given with their checkpoints, attestations with their indices.
 */
export class SpecStore {
  readonly blocks = new Map<RootHex, ForkChoiceBlock>();
  readonly equivocating = new Set<number>();
  currentSlot = 0;
  justified: Checkpoint;
  finalized: Checkpoint;
  boostedRoot: RootHex | null = null;
  readonly #latestMessages = new Map<number, { epoch: number; root: RootHex }>();
  readonly #balances: Uint16Array;
  readonly #slotsPerEpoch: number;
  readonly #boostPercent: number;
  #unrealizedJustified: Checkpoint;
  #unrealizedFinalized: Checkpoint;

  constructor(genesis: ForkChoiceBlock, balances: Uint16Array, slotsPerEpoch: number, boostPercent: number) {
    const checkpoint = { epoch: 0, root: genesis.root };
    this.blocks.set(genesis.root, genesis);
    this.justified = checkpoint;
    this.finalized = checkpoint;
    this.#unrealizedJustified = checkpoint;
    this.#unrealizedFinalized = checkpoint;
    this.#balances = balances;
    this.#slotsPerEpoch = slotsPerEpoch;
    this.#boostPercent = boostPercent;
  }

  onTick(slot: number): void {
    while (this.currentSlot < slot) {
      this.currentSlot++;
      this.boostedRoot = null;
      if (this.currentSlot % this.#slotsPerEpoch === 0) {
        this.#updateCheckpoints(this.#unrealizedJustified, this.#unrealizedFinalized);
      }
    }
  }

  onBlock(block: ForkChoiceBlock, timely: boolean): void {
    const head = this.getHead();
    this.blocks.set(block.root, block);
    const epoch = this.#epochOf(this.currentSlot);
    const dependentSlot = epoch <= 1 ? 0 : (epoch - 1) * this.#slotsPerEpoch - 1;
    const sameDependentRoot = this.ancestor(head, dependentSlot) === this.ancestor(block.root, dependentSlot);
    const isTimely = timely && block.slot === this.currentSlot;
    if (isTimely && this.boostedRoot === null && sameDependentRoot) this.boostedRoot = block.root;
    this.#updateCheckpoints(block.justified, block.finalized);
    if (block.unrealizedJustified.epoch > this.#unrealizedJustified.epoch) {
      this.#unrealizedJustified = block.unrealizedJustified;
    }
    if (block.unrealizedFinalized.epoch > this.#unrealizedFinalized.epoch) {
      this.#unrealizedFinalized = block.unrealizedFinalized;
    }
    if (this.#epochOf(block.slot) < epoch) {
      this.#updateCheckpoints(block.unrealizedJustified, block.unrealizedFinalized);
    }
  }

  onAttestation(indices: readonly number[], targetEpoch: number, root: RootHex): void {
    for (const index of indices) {
      if (this.equivocating.has(index)) continue;
      const latest = this.#latestMessages.get(index);
      if (latest === undefined || targetEpoch > latest.epoch) {
        this.#latestMessages.set(index, { epoch: targetEpoch, root });
      }
    }
  }

  getHead(): RootHex {
    const viable = new Set<RootHex>();
    this.#filterBlockTree(this.justified.root, viable);
    let head = this.justified.root;
    for (;;) {
      const children = this.#children(head).filter((child) => viable.has(child));
      if (children.length === 0) return head;
      head = children.reduce((best, child) => {
        const difference = this.getWeight(child) - this.getWeight(best);
        return difference > 0 || (difference === 0 && child > best) ? child : best;
      });
    }
  }

  getWeight(root: RootHex): number {
    let weight = 0;
    for (const [index, message] of this.#latestMessages) {
      if (!this.equivocating.has(index) && this.#isAncestor(message.root, root)) weight += this.#balances[index] ?? 0;
    }
    if (this.boostedRoot !== null && this.#isAncestor(this.boostedRoot, root)) {
      const gwei = this.#balances.reduce((total, balance) => total + balance, 0) * 1e9;
      weight += Math.floor((Math.floor(gwei / this.#slotsPerEpoch) * this.#boostPercent) / 100) / 1e9;
    }
    return weight;
  }

  checkpointBlock(root: RootHex, epoch: number): RootHex {
    return this.ancestor(root, epoch * this.#slotsPerEpoch);
  }

  ancestor(root: RootHex, slot: number): RootHex {
    const block = this.#block(root);
    return block.slot > slot ? this.ancestor(block.parentRoot, slot) : root;
  }

  #filterBlockTree(root: RootHex, viable: Set<RootHex>): boolean {
    const children = this.#children(root);
    const isViable =
      children.length > 0
        ? children.map((child) => this.#filterBlockTree(child, viable)).includes(true)
        : this.#isViableLeaf(root);
    if (isViable) viable.add(root);
    return isViable;
  }

  #isViableLeaf(root: RootHex): boolean {
    const block = this.#block(root);
    const currentEpoch = this.#epochOf(this.currentSlot);
    const source = currentEpoch > this.#epochOf(block.slot) ? block.unrealizedJustified : block.justified;
    const correctJustified =
      this.justified.epoch === 0 || source.epoch === this.justified.epoch || source.epoch + 2 >= currentEpoch;
    const correctFinalized =
      this.finalized.epoch === 0 || this.finalized.root === this.checkpointBlock(root, this.finalized.epoch);
    return correctJustified && correctFinalized;
  }

  #isAncestor(root: RootHex, ancestor: RootHex): boolean {
    return this.ancestor(root, this.#block(ancestor).slot) === ancestor;
  }

  #children(root: RootHex): RootHex[] {
    return [...this.blocks.values()].filter((block) => block.parentRoot === root).map((block) => block.root);
  }

  #updateCheckpoints(justified: Checkpoint, finalized: Checkpoint): void {
    if (justified.epoch > this.justified.epoch) this.justified = justified;
    if (finalized.epoch > this.finalized.epoch) this.finalized = finalized;
  }

  #epochOf(slot: number): number {
    return Math.floor(slot / this.#slotsPerEpoch);
  }

  #block(root: RootHex): ForkChoiceBlock {
    const block = this.blocks.get(root);
    if (block === undefined) throw new Error(`The block ${root} is not in the store.`);
    return block;
  }
}
