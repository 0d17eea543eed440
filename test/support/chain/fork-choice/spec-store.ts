import type { RootHex } from "@lodestar/types";
import type { Checkpoint, ForkChoiceBlock } from "../../../../src/chain/fork-choice/types.ts";

const GENESIS_EPOCH = 0;
const MIN_SEED_LOOKAHEAD = 1;
const GWEI = 1e9;

export interface SpecAttestation {
  readonly indices: readonly number[];
  readonly slot: number;
  readonly blockRoot: RootHex;
  readonly target: Checkpoint;
}

/** Data that the store needs from a checkpoint's state. */
export interface CheckpointBalances {
  /** Effective balances in ETH; zero for inactive or slashed validators. */
  readonly balances: Uint16Array;
  /** Total active balance, including slashed validators. */
  readonly totalActive: number;
}

interface SpecStoreOptions {
  readonly anchor: ForkChoiceBlock;
  readonly checkpoint: Checkpoint;
  readonly currentSlot: number;
  readonly slotsPerEpoch: number;
  readonly boostPercent: number;
  balancesAt(checkpoint: Checkpoint): CheckpointBalances;
}

/** A call that the specification rejects. It changed nothing. */
class SpecAssertion extends Error {}

function assert(condition: boolean, what: string): asserts condition {
  if (!condition) throw new SpecAssertion(what);
}

/** The specification's objection to a call, if any. */
export function assertionOf(call: () => void): string | null {
  try {
    call();
    return null;
  } catch (error) {
    if (error instanceof SpecAssertion) return error.message;
    throw error;
  }
}

/**
 * Reference implementation of the store of phase0/fork-choice.md, function by function. Blocks come with the
 * checkpoints of their state, realized and unrealized; time is in whole slots.
 */
export class SpecStore {
  readonly blocks = new Map<RootHex, ForkChoiceBlock>();
  readonly equivocatingIndices = new Set<number>();
  currentSlot: number;
  justified: Checkpoint;
  finalized: Checkpoint;
  unrealizedJustified: Checkpoint;
  unrealizedFinalized: Checkpoint;
  boostedRoot: RootHex | null = null;
  readonly #unrealizedJustifications = new Map<RootHex, Checkpoint>();
  readonly #latestMessages = new Map<number, { epoch: number; root: RootHex }>();
  #delayed: SpecAttestation[] = [];
  readonly #slotsPerEpoch: number;
  readonly #boostPercent: number;
  readonly #balancesAt: SpecStoreOptions["balancesAt"];

  /** get_forkchoice_store */
  constructor({ anchor, checkpoint, currentSlot, slotsPerEpoch, boostPercent, balancesAt }: SpecStoreOptions) {
    this.blocks.set(anchor.root, anchor);
    this.#unrealizedJustifications.set(anchor.root, checkpoint);
    this.currentSlot = currentSlot;
    this.justified = checkpoint;
    this.finalized = checkpoint;
    this.unrealizedJustified = checkpoint;
    this.unrealizedFinalized = checkpoint;
    this.#slotsPerEpoch = slotsPerEpoch;
    this.#boostPercent = boostPercent;
    this.#balancesAt = balancesAt;
  }

  onTick(slot: number): void {
    while (this.currentSlot < slot) {
      this.currentSlot++;
      this.boostedRoot = null;
      if (this.currentSlot % this.#slotsPerEpoch === 0) {
        this.#updateCheckpoints(this.unrealizedJustified, this.unrealizedFinalized);
      }
      this.#considerDelayed();
    }
  }

  /** `isBeforeAttesting`: the block arrived before the attestation deadline of the slot it arrived in. */
  onBlock(block: ForkChoiceBlock, isBeforeAttesting: boolean): void {
    if (this.blocks.has(block.root)) return;
    assert(this.blocks.has(block.parentRoot), "the parent is known");
    assert(this.currentSlot >= block.slot, "the block is not of the future");
    assert(block.slot > this.finalized.epoch * this.#slotsPerEpoch, "the block is after the finalized slot");
    const finalizedOfBlock = this.getCheckpointBlock(block.parentRoot, this.finalized.epoch);
    assert(this.finalized.root === finalizedOfBlock, "the block descends from the finalized one");

    const head = this.getHead();
    this.blocks.set(block.root, block);
    this.#updateProposerBoostRoot(head, block.root, isBeforeAttesting && this.currentSlot === block.slot);
    this.#updateCheckpoints(block.justified, block.finalized);
    this.#computePulledUpTip(block);
  }

  /**
   * Returns whether the attestation counts already. One that may become valid is retried each slot, as the
   * specification suggests; others fail an assertion.
   */
  onAttestation(attestation: SpecAttestation, { isFromBlock }: { isFromBlock: boolean }): "counted" | "delayed" {
    this.#validateOnAttestation(attestation);
    if (this.currentSlot < attestation.slot + 1) {
      this.#delayed.push(attestation);
      return "delayed";
    }
    if (!isFromBlock) this.#validateTargetEpochAgainstCurrentTime(attestation);
    const { indices, target, blockRoot } = attestation;
    for (const index of indices) {
      if (this.equivocatingIndices.has(index)) continue;
      const latest = this.#latestMessages.get(index);
      if (latest === undefined || target.epoch > latest.epoch) {
        this.#latestMessages.set(index, { epoch: target.epoch, root: blockRoot });
      }
    }
    return "counted";
  }

  onAttesterSlashing(indices: Iterable<number>): void {
    for (const index of indices) this.equivocatingIndices.add(index);
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

  /** In Gwei. */
  getWeight(root: RootHex): number {
    const { balances, totalActive } = this.#balancesAt(this.justified);
    let weight = 0;
    for (const [index, message] of this.#latestMessages) {
      if (this.equivocatingIndices.has(index)) continue;
      if (this.#isAncestor(message.root, root)) weight += (balances[index] ?? 0) * GWEI;
    }
    if (this.boostedRoot !== null && this.#isAncestor(this.boostedRoot, root)) {
      const committeeWeight = Math.floor((totalActive * GWEI) / this.#slotsPerEpoch);
      weight += Math.floor((committeeWeight * this.#boostPercent) / 100);
    }
    return weight;
  }

  getCheckpointBlock(root: RootHex, epoch: number): RootHex {
    return this.getAncestor(root, epoch * this.#slotsPerEpoch);
  }

  /** Before the oldest block, the store knows only that block's parent root. */
  getAncestor(root: RootHex, slot: number): RootHex {
    let ancestor = root;
    for (
      let block = this.blocks.get(root);
      block !== undefined && block.slot > slot;
      block = this.blocks.get(ancestor)
    ) {
      ancestor = block.parentRoot;
    }
    return ancestor;
  }

  /**
   * Not in the specification: drops blocks that do not descend from the finalized checkpoint. None can be head, and
   * later votes for them are votes for unknown blocks.
   */
  prune(): void {
    const { root: finalizedRoot, epoch } = this.finalized;
    const left = [...this.blocks.keys()].filter((root) => this.getCheckpointBlock(root, epoch) !== finalizedRoot);
    for (const root of left) this.blocks.delete(root);
  }

  #considerDelayed(): void {
    const delayed = this.#delayed;
    this.#delayed = [];
    for (const attestation of delayed) {
      assertionOf(() => this.onAttestation(attestation, { isFromBlock: false }));
    }
  }

  /** The time-independent part of validate_on_attestation. */
  #validateOnAttestation({ slot, blockRoot, target }: SpecAttestation): void {
    assert(target.epoch === this.#epochOf(slot), "the target is of the epoch of the attestation");
    assert(this.blocks.has(target.root), "the target is known");
    const block = this.blocks.get(blockRoot);
    assert(block !== undefined, "the block is known");
    assert(block.slot <= slot, "the block is not later than the attestation");
    assert(target.root === this.getCheckpointBlock(blockRoot, target.epoch), "the target is that of the block");
  }

  #validateTargetEpochAgainstCurrentTime({ target }: SpecAttestation): void {
    const currentEpoch = this.#epochOf(this.currentSlot);
    const previousEpoch = Math.max(GENESIS_EPOCH, currentEpoch - 1);
    assert(
      target.epoch === currentEpoch || target.epoch === previousEpoch,
      "the target is of the current or the previous epoch",
    );
  }

  #updateProposerBoostRoot(head: RootHex, root: RootHex, isTimely: boolean): void {
    const epoch = this.#epochOf(this.currentSlot);
    const isFirstBlock = this.boostedRoot === null;
    const isSameDependentRoot = this.#dependentRoot(head, epoch) === this.#dependentRoot(root, epoch);
    if (isTimely && isFirstBlock && isSameDependentRoot) this.boostedRoot = root;
  }

  /** get_shuffling_dependent_root */
  #dependentRoot(root: RootHex, epoch: number): RootHex {
    if (epoch <= MIN_SEED_LOOKAHEAD) return this.getAncestor(root, 0);
    return this.getAncestor(root, (epoch - MIN_SEED_LOOKAHEAD) * this.#slotsPerEpoch - 1);
  }

  #computePulledUpTip(block: ForkChoiceBlock): void {
    const { unrealizedJustified, unrealizedFinalized } = block;
    this.#unrealizedJustifications.set(block.root, unrealizedJustified);
    if (unrealizedJustified.epoch > this.unrealizedJustified.epoch) this.unrealizedJustified = unrealizedJustified;
    if (unrealizedFinalized.epoch > this.unrealizedFinalized.epoch) this.unrealizedFinalized = unrealizedFinalized;
    if (this.#epochOf(block.slot) < this.#epochOf(this.currentSlot)) {
      this.#updateCheckpoints(unrealizedJustified, unrealizedFinalized);
    }
  }

  #updateCheckpoints(justified: Checkpoint, finalized: Checkpoint): void {
    if (justified.epoch > this.justified.epoch) this.justified = justified;
    if (finalized.epoch > this.finalized.epoch) this.finalized = finalized;
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
    const currentEpoch = this.#epochOf(this.currentSlot);
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
    const isOfPriorEpoch = this.#epochOf(this.currentSlot) > this.#epochOf(block.slot);
    return isOfPriorEpoch ? this.#unrealizedJustifications.get(root)! : block.justified;
  }

  #isAncestor(root: RootHex, ancestor: RootHex): boolean {
    return this.getAncestor(root, this.blocks.get(ancestor)!.slot) === ancestor;
  }

  #children(root: RootHex): RootHex[] {
    const children: RootHex[] = [];
    for (const block of this.blocks.values()) if (block.parentRoot === root) children.push(block.root);
    return children;
  }

  #epochOf(slot: number): number {
    return Math.floor(slot / this.#slotsPerEpoch);
  }
}
