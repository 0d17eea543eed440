import type { ChainForkConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { RootHex } from "@lodestar/types";
import { GrowingPauses, type Pause } from "../growing-pauses.ts";
import { Revision } from "../revision.ts";
import { BlockTree } from "./block-tree.ts";
import { ForkChoiceError } from "./error.ts";
import { proposerBoostScore, selectHead, shufflingDependentSlot } from "./head-selection.ts";
import { markAncestorsInvalid, markPayloadInvalid, markPayloadValid, takeBackInvalid } from "./payload-status.ts";
import { NO_NODE, ProtoArray, type ProtoNode } from "./proto-array.ts";
import {
  type AttestationVotes,
  type Checkpoint,
  type ForkChoiceBlock,
  type JustifiedBalances,
  sameCheckpoint,
} from "./types.ts";
import { descentFromFinalized } from "./viability.ts";
import { type LatestMessages, Votes, type VotesMoment } from "./votes.ts";

export interface ForkChoiceAnchor {
  config: Pick<ChainForkConfig, "PROPOSER_SCORE_BOOST">;
  currentSlot: number;
  /** The trusted block: nothing before it is ever considered. */
  anchor: ForkChoiceBlock;
  /** Justified and finalized checkpoint to begin with; its root is the anchor's. */
  checkpoint: Checkpoint;
  /** Effective balances of the checkpoint's state in increments of 1 ETH, zero for inactive or slashed validators. */
  balances: Uint16Array;
  /** Balance of all active validators, slashed ones included, for the proposer boost; by default the sum of `balances`. */
  totalActiveBalance?: number;
  slotsPerEpoch?: number;
}

/** The latest messages in a form that outlives the tree: their nodes are positions in the list of roots. */
export interface ExportedVotes {
  roots: RootHex[];
  messages: LatestMessages;
}

/** All that fork choice knows at a moment, from which it can go on again. */
export interface ForkChoiceMoment {
  nodes: ProtoNode[];
  votes: VotesMoment;
  currentSlot: number;
  setBackFrom: number;
  justified: Checkpoint;
  finalized: Checkpoint;
  unrealizedJustified: Checkpoint;
  unrealizedFinalized: Checkpoint;
  balances: JustifiedBalances;
  boostedRoot: RootHex | null;
  late: [RootHex, number][];
  head: ForkChoiceBlock;
  queued: AttestationVotes[];
  refusals: [RootHex, Pause][];
}

/** The store of phase0/fork-choice.md and its handlers, with payload status by sync/optimistic.md. */
export class ForkChoice extends BlockTree {
  /** Raised with every change but those of votes, which are counted when the head is updated. */
  readonly revision = new Revision();
  /** When the execution engine may be asked again about blocks that it refused, be they in the tree or left out of it. */
  readonly refusals = new GrowingPauses();
  readonly #votes = new Votes();
  readonly #boostPercent: number;
  #currentSlot: number;
  /** Where the clock was before it was last set back. */
  #setBackFrom = Number.NEGATIVE_INFINITY;
  #justified: Checkpoint;
  #finalized: Checkpoint;
  #unrealizedJustified: Checkpoint;
  #unrealizedFinalized: Checkpoint;
  #balances: JustifiedBalances;
  #boostedRoot: RootHex | null = null;
  /** The slots of the blocks of this slot and the one before that missed the attestation deadline. */
  #late = new Map<RootHex, number>();
  #head: ForkChoiceBlock;
  #queued: AttestationVotes[] = [];

  /** get_forkchoice_store of phase0/fork-choice.md. */
  static fromAnchor(options: ForkChoiceAnchor): ForkChoice {
    if (options.checkpoint.root !== options.anchor.root) {
      throw new ForkChoiceError(
        "unknown-block",
        `The checkpoint block ${options.checkpoint.root} is not the anchor block ${options.anchor.root}; fork choice begins at a checkpoint's own block.`,
      );
    }
    return new ForkChoice(options);
  }

  private constructor(options: ForkChoiceAnchor) {
    const { checkpoint, balances, totalActiveBalance } = options;
    super(new ProtoArray(), options.slotsPerEpoch ?? SLOTS_PER_EPOCH);
    this.#boostPercent = options.config.PROPOSER_SCORE_BOOST;
    this.#currentSlot = options.currentSlot;
    this.#justified = checkpoint;
    this.#finalized = checkpoint;
    this.#unrealizedJustified = checkpoint;
    this.#unrealizedFinalized = checkpoint;
    this.#balances = { checkpoint, balances, totalActive: totalActiveBalance ?? sum(balances) };
    // The anchor is trusted to have justified its own checkpoint, whatever its state says.
    this.#head = { ...options.anchor, unrealizedJustified: checkpoint, unrealizedFinalized: checkpoint };
    this.tree.insert(this.#head);
  }

  get currentSlot(): number {
    return this.#currentSlot;
  }

  get justified(): Checkpoint {
    return this.#justified;
  }

  get finalized(): Checkpoint {
    return this.#finalized;
  }

  get unrealizedJustified(): Checkpoint {
    return this.#unrealizedJustified;
  }

  get unrealizedFinalized(): Checkpoint {
    return this.#unrealizedFinalized;
  }

  get proposerBoostRoot(): RootHex | null {
    return this.#boostedRoot;
  }

  /** The block that the last updateHead selected, with its payload status of now. */
  get head(): ForkChoiceBlock {
    return this.get(this.#head.root) ?? this.#head;
  }

  capture(): ForkChoiceMoment {
    return {
      nodes: this.tree.capture(),
      votes: this.#votes.capture(),
      currentSlot: this.#currentSlot,
      setBackFrom: this.#setBackFrom,
      justified: this.#justified,
      finalized: this.#finalized,
      unrealizedJustified: this.#unrealizedJustified,
      unrealizedFinalized: this.#unrealizedFinalized,
      balances: this.#balances,
      boostedRoot: this.#boostedRoot,
      late: [...this.#late],
      head: this.#head,
      queued: [...this.#queued],
      refusals: this.refusals.capture(),
    };
  }

  /** Takes the moment over, whatever was known or final before. */
  restore(moment: ForkChoiceMoment): void {
    this.tree.restore(moment.nodes);
    this.#votes.rewind(moment.votes);
    this.#currentSlot = moment.currentSlot;
    this.#setBackFrom = moment.setBackFrom;
    this.#justified = moment.justified;
    this.#finalized = moment.finalized;
    this.#unrealizedJustified = moment.unrealizedJustified;
    this.#unrealizedFinalized = moment.unrealizedFinalized;
    this.#balances = moment.balances;
    this.#boostedRoot = moment.boostedRoot;
    this.#late = new Map(moment.late);
    this.#head = moment.head;
    this.#queued = moment.queued;
    this.refusals.restore(moment.refusals);
    this.revision.raise();
  }

  /** on_tick: a slot that is not later than the current one changes nothing. */
  onTick(slot: number): void {
    if (slot <= this.#currentSlot) return;
    const newEpoch = this.epochOf(slot) > this.epochOf(this.#currentSlot);
    this.#currentSlot = slot;
    this.#boostedRoot = null;
    for (const [root, lateSlot] of this.#late) if (lateSlot + 1 < slot) this.#late.delete(root);
    if (newEpoch) this.#raiseCheckpoints(this.#unrealizedJustified, this.#unrealizedFinalized);
    this.#recordQueued();
  }

  /**
   * The clock was set back, which the time of the specification never is. Blocks and votes from beyond it stay known: the
   * blocks wait for their time (`selectHead`), the votes give way to those that come (`Votes.record`).
   */
  onClockSetBack(slot: number): void {
    if (slot >= this.#currentSlot) return;
    this.#setBackFrom = Math.max(this.#setBackFrom, this.#currentSlot);
    this.#currentSlot = slot;
    this.#boostedRoot = null;
  }

  /** on_block, for a block that passed the state transition. `timely`: it arrived before the attestation deadline. */
  onBlock(block: ForkChoiceBlock, { timely }: { timely: boolean }): void {
    if (this.has(block.root)) return;
    this.#refuseUnfit(block);
    const boosted = timely && this.#deservesBoost(block);
    const index = this.tree.insert(block);
    this.refusals.delete(block.root);
    if (block.execution.status === "valid") markPayloadValid(this.tree, [index]);
    if (boosted) this.#boostedRoot = block.root;
    if (!timely && block.slot + 1 >= this.#currentSlot) this.#late.set(block.root, block.slot);

    this.#raiseCheckpoints(block.justified, block.finalized);
    // compute_pulled_up_tip
    this.#unrealizedJustified = later(this.#unrealizedJustified, block.unrealizedJustified);
    this.#unrealizedFinalized = later(this.#unrealizedFinalized, block.unrealizedFinalized);
    if (this.epochOf(block.slot) < this.epochOf(this.#currentSlot)) {
      this.#raiseCheckpoints(block.unrealizedJustified, block.unrealizedFinalized);
    }
    this.revision.raise();
  }

  /**
   * on_attestation. A vote counts from the slot after its own; until then it is queued. A vote for a block that is not
   * in the tree (older than the anchor, or pruned) says nothing about any branch and is left out, as is one for a block
   * of a later slot than the vote's (validate_on_attestation). One that does not come with a block has to be of this epoch
   * or the previous one (validate_target_epoch_against_current_time). The indices are kept, not copied.
   */
  onAttestation(attestation: AttestationVotes, { isFromBlock = true } = {}): void {
    if (!isFromBlock && attestation.targetEpoch + 1 < this.epochOf(this.#currentSlot)) return;
    if (attestation.slot >= this.#currentSlot) this.#queued.push(attestation);
    else this.#record(attestation);
  }

  /** on_attester_slashing, with the validators that signed both attestations. */
  onAttesterSlashing(indices: Iterable<number>): void {
    for (const index of indices) this.#votes.markEquivocating(index);
  }

  /** is_head_late; false for blocks of earlier slots than the previous one. */
  isLate(root: RootHex): boolean {
    return this.#late.has(root);
  }

  isEquivocating(validator: number): boolean {
    return this.#votes.isEquivocating(validator);
  }

  /** get_attestation_score: the weight when the head was last selected, without the proposer boost; in increments. */
  attestationScore(root: RootHex): number {
    const isBoosted = this.#boostedRoot !== null && this.isDescendant(root, this.#boostedRoot);
    return this.weightOf(root) - (isBoosted ? this.committeeFraction(this.#boostPercent) : 0);
  }

  /** calculate_committee_fraction, in increments. */
  committeeFraction(percent: number): number {
    return proposerBoostScore(this.#balances.totalActive, this.slotsPerEpoch, percent);
  }

  /** The justified checkpoint, when the balances held are not those of its state. */
  needsBalances(): Checkpoint | null {
    return sameCheckpoint(this.#balances.checkpoint, this.#justified) ? null : this.#justified;
  }

  /** The array is kept and must not change any more; see ForkChoiceAnchor for its contents. */
  setJustifiedBalances(checkpoint: Checkpoint, balances: Uint16Array, totalActiveBalance?: number): void {
    this.#balances = { checkpoint, balances, totalActive: totalActiveBalance ?? sum(balances) };
  }

  /** get_head */
  updateHead(): ForkChoiceBlock {
    const { block } = this.tree.nodeAt(this.#selectHead());
    // "Re-Orgs" of sync/optimistic.md: there is no way around an invalid justified block but to say so.
    if (block.execution.status === "invalid") {
      throw new ForkChoiceError(
        "justified-payload-invalid",
        `The payload of the justified block ${block.root} is invalid, which leaves no block that could be the head.`,
      );
    }
    if (block !== this.#head) {
      this.#head = block;
      this.revision.raise();
    }
    return block;
  }

  /** The execution engine found a payload valid. A hash that no block of the tree carries is of no consequence. */
  onValidPayload(blockHash: RootHex): void {
    const indices: number[] = [];
    this.tree.nodes.forEach(({ block: { execution } }, index) => {
      if (execution.status !== "pre-merge" && execution.blockHash === blockHash) indices.push(index);
    });
    markPayloadValid(this.tree, indices);
    this.revision.raise();
  }

  /**
   * The execution engine found the payload of a block invalid. Returns the block that it contradicts itself about, if there is
   * one: a block that is final or known to be valid stays what it is.
   */
  onInvalidPayload(blockRoot: RootHex, latestValidHash: RootHex | null): ForkChoiceBlock | null {
    const index = this.tree.indexOf(blockRoot);
    if (index === NO_NODE) {
      throw new ForkChoiceError("unknown-block", `The block ${blockRoot} with the invalid payload is not in the tree.`);
    }
    const contradicted = markPayloadInvalid(this.tree, index, { latestValidHash, finalizedRoot: this.#finalized.root });
    this.#noteFallen();
    this.revision.raise();
    return contradicted;
  }

  /** The same of a block that was refused for its payload: its ancestors may be invalid with it, and nothing is to build on it. */
  onRefusedPayload(
    { root, parentRoot }: { root: RootHex; parentRoot: RootHex },
    latestValidHash: RootHex | null,
  ): ForkChoiceBlock | null {
    this.refusals.begin(root, this.#currentSlot);
    const parent = this.tree.indexOf(parentRoot);
    const invalid = { latestValidHash, finalizedRoot: this.#finalized.root };
    const contradicted = markAncestorsInvalid(this.tree, parent, invalid);
    this.#noteFallen();
    this.revision.raise();
    return contradicted;
  }

  /** The execution engine finds a payload valid that it had refused, and with it those of all ancestors. */
  onTakenBack(root: RootHex): void {
    takeBackInvalid(this.tree, this.tree.indexOf(root));
    this.revision.raise();
  }

  /** Whether the block was found to have an invalid payload, or one that builds on such a payload. */
  isInvalid(root: RootHex): boolean {
    const block = this.get(root);
    return block ? block.execution.status === "invalid" : this.refusals.has(root);
  }

  /** Removes all blocks but the finalized one and its descendants; returns what was removed, oldest first. */
  prune(): ForkChoiceBlock[] {
    if (!this.has(this.#finalized.root)) return [];
    const keep = descentFromFinalized(this.tree, this.#finalized, this.slotsPerEpoch);
    if (keep.every((kept) => kept === 1)) return [];
    const { removed, newIndexOf } = this.tree.prune(keep);
    this.#votes.remap(newIndexOf);
    this.revision.raise();
    return removed;
  }

  exportVotes(): ExportedVotes {
    const roots: RootHex[] = [];
    const positions = new Int32Array(this.tree.size).fill(NO_NODE);
    const positionOf = (node: number): number => {
      if (node === NO_NODE) return NO_NODE;
      if (positions[node] === NO_NODE) positions[node] = roots.push(this.tree.nodeAt(node).block.root) - 1;
      return positions[node]!;
    };
    const messages = this.#votes.latestMessages();
    return { roots, messages: { ...messages, nodes: messages.nodes.map(positionOf) } };
  }

  /** A vote for a block that is not in the tree lies nowhere, but keeps an earlier one from counting. */
  importVotes({ roots, messages }: ExportedVotes): void {
    const indices = roots.map((root) => this.tree.indexOf(root));
    const nodes = messages.nodes.map((position) => indices[position] ?? NO_NODE);
    this.#votes.restore({ ...messages, nodes });
  }

  /** What falls with the first block of a branch was not refused by itself. */
  #noteFallen(): void {
    for (const { root } of this.refusedBlocks()) {
      if (!this.refusals.has(root)) this.refusals.begin(root, this.#currentSlot);
    }
  }

  #selectHead(): number {
    const { balances, totalActive } = this.#balances;
    this.tree.applyVoteDeltas(this.#votes.takeDeltas(this.tree.size, balances));
    return selectHead(this.tree, {
      justified: this.#justified,
      finalized: this.#finalized,
      currentSlot: this.#currentSlot,
      slotsPerEpoch: this.slotsPerEpoch,
      boostedNode: this.#boostedRoot === null ? NO_NODE : this.tree.indexOf(this.#boostedRoot),
      boostScore: proposerBoostScore(totalActive, this.slotsPerEpoch, this.#boostPercent),
      totalActiveBalance: totalActive,
    });
  }

  /** The assertions of on_block; that no payload known to be invalid is imported or built on is sync/optimistic.md. */
  #refuseUnfit(block: ForkChoiceBlock): void {
    const parent = this.get(block.parentRoot);
    const named = `Block ${block.root} of slot ${block.slot}`;
    if (parent === undefined) {
      throw new ForkChoiceError(
        "unknown-parent",
        `${named} has the unknown parent ${block.parentRoot}; it comes first.`,
      );
    }
    if (block.execution.status === "invalid" || parent.execution.status === "invalid") {
      throw new ForkChoiceError("invalid-payload", `${named} or its parent has an invalid execution payload.`);
    }
    if (block.slot > this.#currentSlot) {
      throw new ForkChoiceError("future-slot", `${named} is ahead of the current slot ${this.#currentSlot}.`);
    }
    const finalizedSlot = this.#finalized.epoch * this.slotsPerEpoch;
    if (block.slot <= finalizedSlot) {
      throw new ForkChoiceError(
        "not-after-finalized-slot",
        `${named} is not after the finalized slot ${finalizedSlot}.`,
      );
    }
    if (!this.isDescendantOfFinalized(parent.root)) {
      throw new ForkChoiceError(
        "not-descendant-of-finalized",
        `${named} does not descend from the finalized block ${this.#finalized.root} of epoch ${this.#finalized.epoch}.`,
      );
    }
  }

  /**
   * update_proposer_boost_root: the first timely block of the slot, if the blocks that decide the epoch's proposers are
   * the same on its chain and on that of the head. Called before the block is added, as the head is to be the one before.
   */
  #deservesBoost(block: ForkChoiceBlock): boolean {
    if (this.#boostedRoot !== null || block.slot !== this.#currentSlot) return false;
    const dependentSlot = shufflingDependentSlot(this.epochOf(this.#currentSlot), this.slotsPerEpoch);
    const ofHead = this.tree.ancestorAtSlot(this.#selectHead(), dependentSlot);
    const ofBlock = this.tree.ancestorAtSlot(this.tree.indexOf(block.parentRoot), dependentSlot);
    // Where the deciding block lies before the anchor there is none on either side: the chains share it.
    return ofHead === ofBlock;
  }

  /** update_checkpoints */
  #raiseCheckpoints(justified: Checkpoint, finalized: Checkpoint): void {
    this.#justified = later(this.#justified, justified);
    this.#finalized = later(this.#finalized, finalized);
    this.revision.raise();
  }

  /** In the order of their slots, also when the clock skips some: of two votes of an epoch the first one counts. */
  #recordQueued(): void {
    const queued = this.#queued.sort((a, b) => a.slot - b.slot);
    this.#queued = [];
    for (const attestation of queued) this.onAttestation(attestation);
  }

  #record({ indices, slot, targetEpoch, blockRoot }: AttestationVotes): void {
    const node = this.tree.indexOf(blockRoot);
    if (node === NO_NODE || this.tree.nodeAt(node).block.slot > slot) return;
    const isSetBack = this.#currentSlot < this.#setBackFrom;
    const currentEpoch = isSetBack ? this.epochOf(this.#currentSlot) : undefined;
    for (let position = 0; position < indices.length; position++) {
      this.#votes.record(indices[position]!, node, targetEpoch, currentEpoch);
    }
  }
}

const later = (held: Checkpoint, candidate: Checkpoint): Checkpoint =>
  candidate.epoch > held.epoch ? candidate : held;

const sum = (balances: Uint16Array): number => balances.reduce((total, balance) => total + balance, 0);
