import type { ChainForkConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { RootHex } from "@lodestar/types";
import { Revision } from "../revision.ts";
import { Backoff, type BackoffEntry } from "./backoff.ts";
import { requireImportable } from "./block-assertions.ts";
import { BlockTree } from "./block-tree.ts";
import { ForkChoiceError } from "./error.ts";
import { type ExportedVotes, exportVotes, importVotes } from "./exported-votes.ts";
import { proposerBoostScore, selectHead, shufflingDependentSlot } from "./head-selection.ts";
import { markAncestorsInvalid, markPayloadInvalid, markPayloadValid, reinstatePayload } from "./payload-status.ts";
import { NO_NODE, ProtoArray, type ProtoNode } from "./proto-array.ts";
import {
  initialCheckpoints,
  type StoreCheckpoints,
  unrealizedOf,
  updateCheckpoints,
  updateUnrealizedCheckpoints,
} from "./store-checkpoints.ts";
import {
  type AttestationVotes,
  type Checkpoint,
  type ForkChoiceBlock,
  type JustifiedBalances,
  sameCheckpoint,
} from "./types.ts";
import { descentFromFinalized } from "./viability.ts";
import { Votes, type VotesSnapshot } from "./votes.ts";

export interface ForkChoiceAnchor {
  config: Pick<ChainForkConfig, "PROPOSER_SCORE_BOOST">;
  currentSlot: number;
  /** Trusted block. Earlier blocks are ignored. */
  anchor: ForkChoiceBlock;
  /** Initial justified and finalized checkpoint, with the anchor as its block. */
  checkpoint: Checkpoint;
  /** Effective balances of the checkpoint state in increments of 1 ETH; zero for inactive or slashed validators. */
  balances: Uint16Array;
  /** Total active balance including slashed validators, for the proposer boost; defaults to the sum of `balances`. */
  totalActiveBalance?: number;
  slotsPerEpoch?: number;
}

/** Snapshot of fork choice. */
export interface ForkChoiceSnapshot {
  nodes: ProtoNode[];
  votes: VotesSnapshot;
  currentSlot: number;
  setBackFrom: number;
  checkpoints: StoreCheckpoints;
  balances: JustifiedBalances;
  boostedRoot: RootHex | null;
  late: [RootHex, number][];
  head: ForkChoiceBlock;
  queued: AttestationVotes[];
  retryBackoff: [RootHex, BackoffEntry][];
}

/** Store and handlers of phase0/fork-choice.md, with payload statuses as defined in sync/optimistic.md. */
export class ForkChoice extends BlockTree {
  /** Raised on every change. Votes only count once the head is updated. */
  readonly revision = new Revision();
  /** Backoff for retrying invalid payloads with the execution engine, whether or not their blocks are in the tree. */
  readonly retryBackoff = new Backoff();
  readonly #votes = new Votes();
  readonly #boostPercent: number;
  #currentSlot: number;
  /** Latest slot reached before the clock was set back. */
  #setBackFrom = Number.NEGATIVE_INFINITY;
  #checkpoints: StoreCheckpoints;
  #balances: JustifiedBalances;
  #boostedRoot: RootHex | null = null;
  /** Blocks of the current and previous slot that missed the attestation deadline, with their slots. */
  #late = new Map<RootHex, number>();
  #head: ForkChoiceBlock;
  #queued: AttestationVotes[] = [];

  /** phase0/fork-choice.md, get_forkchoice_store. */
  static fromAnchor(options: ForkChoiceAnchor): ForkChoice {
    if (options.checkpoint.root !== options.anchor.root) {
      throw new ForkChoiceError(
        "unknown-block",
        `The checkpoint root ${options.checkpoint.root} must be the anchor root ${options.anchor.root}.`,
      );
    }
    return new ForkChoice(options);
  }

  private constructor(options: ForkChoiceAnchor) {
    const { checkpoint, balances, totalActiveBalance } = options;
    super(new ProtoArray(), options.slotsPerEpoch ?? SLOTS_PER_EPOCH);
    this.#boostPercent = options.config.PROPOSER_SCORE_BOOST;
    this.#currentSlot = options.currentSlot;
    this.#checkpoints = initialCheckpoints(checkpoint);
    this.#balances = { checkpoint, balances, totalActive: totalActiveBalance ?? sum(balances) };
    // The anchor justifies its own checkpoint, regardless of its state.
    this.#head = { ...options.anchor, unrealizedJustified: checkpoint, unrealizedFinalized: checkpoint };
    this.tree.insert(this.#head);
  }

  get currentSlot(): number {
    return this.#currentSlot;
  }

  get justified(): Checkpoint {
    return this.#checkpoints.justified;
  }

  get finalized(): Checkpoint {
    return this.#checkpoints.finalized;
  }

  get unrealizedJustified(): Checkpoint {
    return this.#checkpoints.unrealizedJustified;
  }

  get unrealizedFinalized(): Checkpoint {
    return this.#checkpoints.unrealizedFinalized;
  }

  get proposerBoostRoot(): RootHex | null {
    return this.#boostedRoot;
  }

  /** Head selected by the last `updateHead`, with its current payload status. */
  get head(): ForkChoiceBlock {
    return this.get(this.#head.root) ?? this.#head;
  }

  capture(): ForkChoiceSnapshot {
    return {
      nodes: this.tree.capture(),
      votes: this.#votes.capture(),
      currentSlot: this.#currentSlot,
      setBackFrom: this.#setBackFrom,
      checkpoints: this.#checkpoints,
      balances: this.#balances,
      boostedRoot: this.#boostedRoot,
      late: [...this.#late],
      head: this.#head,
      queued: [...this.#queued],
      retryBackoff: this.retryBackoff.capture(),
    };
  }

  /** Restores a snapshot, even across finality. */
  restore(snapshot: ForkChoiceSnapshot): void {
    this.tree.restore(snapshot.nodes);
    this.#votes.rewind(snapshot.votes);
    this.#currentSlot = snapshot.currentSlot;
    this.#setBackFrom = snapshot.setBackFrom;
    this.#checkpoints = snapshot.checkpoints;
    this.#balances = snapshot.balances;
    this.#boostedRoot = snapshot.boostedRoot;
    this.#late = new Map(snapshot.late);
    this.#head = snapshot.head;
    this.#queued = snapshot.queued;
    this.retryBackoff.restore(snapshot.retryBackoff);
    this.revision.raise();
  }

  /** on_tick. Ignores slots that are not later than the current one. */
  onTick(slot: number): void {
    if (slot <= this.#currentSlot) return;
    const newEpoch = this.epochOf(slot) > this.epochOf(this.#currentSlot);
    this.#currentSlot = slot;
    this.#boostedRoot = null;
    for (const [root, lateSlot] of this.#late) if (lateSlot + 1 < slot) this.#late.delete(root);
    if (newEpoch) {
      this.#checkpoints = updateCheckpoints(this.#checkpoints, unrealizedOf(this.#checkpoints));
      this.revision.raise();
    }
    this.#recordQueued();
  }

  /**
   * Handles a clock that was set back, which the specification does not cover. Blocks after the new slot stay in the
   * tree until their slot (`selectHead`). Votes after the new slot can be replaced (`Votes.record`).
   */
  onClockSetBack(slot: number): void {
    if (slot >= this.#currentSlot) return;
    this.#setBackFrom = Math.max(this.#setBackFrom, this.#currentSlot);
    this.#currentSlot = slot;
    this.#boostedRoot = null;
  }

  /** on_block, after the state transition. `timely` is true if the block arrived before the attestation deadline. */
  onBlock(block: ForkChoiceBlock, { timely }: { timely: boolean }): void {
    if (this.has(block.root)) return;
    this.#requireImportable(block);
    const boosted = timely && this.#deservesBoost(block);
    this.#insert(block);
    if (boosted) this.#boostedRoot = block.root;
    if (!timely && block.slot + 1 >= this.#currentSlot) this.#late.set(block.root, block.slot);
  }

  /** Adds a block imported before a restart. Its arrival time is unknown, so it is neither boosted nor late. */
  restoreBlock(block: ForkChoiceBlock): void {
    if (this.has(block.root)) return;
    this.#requireImportable(block);
    this.#insert(block);
  }

  /**
   * on_attestation. Queues a vote, which counts from the slot after its own. Ignores votes for blocks that are not in
   * the tree or are later than the vote (validate_on_attestation). Gossip votes must be from the current or previous
   * epoch (validate_target_epoch_against_current_time). Keeps a reference to the indices.
   */
  onAttestation(attestation: AttestationVotes, { isFromBlock = true } = {}): void {
    if (!isFromBlock && attestation.targetEpoch + 1 < this.epochOf(this.#currentSlot)) return;
    if (attestation.slot >= this.#currentSlot) this.#queued.push(attestation);
    else this.#record(attestation);
  }

  /** on_attester_slashing, for the validators that signed both attestations. */
  onAttesterSlashing(indices: Iterable<number>): void {
    for (const index of indices) this.#votes.markEquivocating(index);
  }

  /** is_head_late. Returns false for blocks before the previous slot. */
  isLate(root: RootHex): boolean {
    return this.#late.has(root);
  }

  isEquivocating(validator: number): boolean {
    return this.#votes.isEquivocating(validator);
  }

  /** get_attestation_score: weight at the last head selection, excluding the proposer boost, in increments. */
  attestationScore(root: RootHex): number {
    const isBoosted = this.#boostedRoot !== null && this.isDescendant(root, this.#boostedRoot);
    return this.weightOf(root) - (isBoosted ? this.committeeFraction(this.#boostPercent) : 0);
  }

  /** calculate_committee_fraction, in increments. */
  committeeFraction(percent: number): number {
    return proposerBoostScore(this.#balances.totalActive, this.slotsPerEpoch, percent);
  }

  /** Returns the justified checkpoint if its balances must be loaded, otherwise null. */
  needsBalances(): Checkpoint | null {
    return sameCheckpoint(this.#balances.checkpoint, this.justified) ? null : this.justified;
  }

  /** Keeps a reference to the array, which must not change afterwards. See `ForkChoiceAnchor` for its contents. */
  setJustifiedBalances(checkpoint: Checkpoint, balances: Uint16Array, totalActiveBalance?: number): void {
    this.#balances = { checkpoint, balances, totalActive: totalActiveBalance ?? sum(balances) };
  }

  /** get_head */
  updateHead(): ForkChoiceBlock {
    const { block } = this.tree.nodeAt(this.#selectHead());
    // sync/optimistic.md, "Re-orgs": an invalid justified block cannot be worked around.
    if (block.execution.status === "invalid") {
      throw new ForkChoiceError(
        "justified-payload-invalid",
        `The payload of the justified block ${block.root} is invalid, so no block can be the head.`,
      );
    }
    if (block !== this.#head) {
      this.#head = block;
      this.revision.raise();
    }
    return block;
  }

  /** Applies a VALID verdict from the execution engine. Ignores unknown hashes. */
  onValidPayload(blockHash: RootHex): void {
    const indices: number[] = [];
    this.tree.nodes.forEach(({ block: { execution } }, index) => {
      if (execution.status !== "pre-merge" && execution.blockHash === blockHash) indices.push(index);
    });
    markPayloadValid(this.tree, indices);
    this.revision.raise();
  }

  /**
   * Applies an INVALID verdict to a block in the tree. Returns the finalized or valid block that the verdict
   * contradicts, if any; such a block keeps its status.
   */
  onInvalidPayload(blockRoot: RootHex, latestValidHash: RootHex | null): ForkChoiceBlock | null {
    const index = this.tree.indexOf(blockRoot);
    if (index === NO_NODE) {
      throw new ForkChoiceError("unknown-block", `Block ${blockRoot} with an invalid payload is not in the tree.`);
    }
    const contradicted = markPayloadInvalid(this.tree, index, { latestValidHash, finalizedRoot: this.finalized.root });
    this.#noteFallen();
    this.revision.raise();
    return contradicted;
  }

  /**
   * Applies an INVALID verdict to a block that was not imported. Can invalidate ancestors of the block, along with
   * other descendants of those ancestors.
   */
  onRejectedPayload(
    { root, parentRoot }: { root: RootHex; parentRoot: RootHex },
    latestValidHash: RootHex | null,
  ): ForkChoiceBlock | null {
    this.retryBackoff.schedule(root, this.#currentSlot);
    const parent = this.tree.indexOf(parentRoot);
    const invalid = { latestValidHash, finalizedRoot: this.finalized.root };
    const contradicted = markAncestorsInvalid(this.tree, parent, invalid);
    this.#noteFallen();
    this.revision.raise();
    return contradicted;
  }

  /** Reinstates a payload that the execution engine once rejected but now finds valid, along with all its ancestors. */
  onReinstatedPayload(root: RootHex): void {
    reinstatePayload(this.tree, this.tree.indexOf(root));
    this.revision.raise();
  }

  /** Returns true if the payload of the block or of an ancestor is invalid. */
  isInvalid(root: RootHex): boolean {
    const block = this.get(root);
    return block ? block.execution.status === "invalid" : this.retryBackoff.has(root);
  }

  /** Removes all blocks except the finalized one and its descendants. Returns the removed blocks, oldest first. */
  prune(): ForkChoiceBlock[] {
    if (!this.has(this.finalized.root)) return [];
    const keep = descentFromFinalized(this.tree, this.finalized, this.slotsPerEpoch);
    if (keep.every((flag) => flag === 1)) return [];
    const { removed, newIndexOf } = this.tree.prune(keep);
    this.#votes.remap(newIndexOf);
    this.revision.raise();
    return removed;
  }

  exportVotes(): ExportedVotes {
    return exportVotes(this.tree, this.#votes);
  }

  importVotes(exported: ExportedVotes): void {
    importVotes(this.tree, this.#votes, exported);
  }

  /** Starts the backoff for branch roots that were invalidated indirectly. */
  #noteFallen(): void {
    for (const { root } of this.invalidBranchRoots()) {
      if (!this.retryBackoff.has(root)) this.retryBackoff.schedule(root, this.#currentSlot);
    }
  }

  #requireImportable(block: ForkChoiceBlock): void {
    const finalizedSlot = this.finalized.epoch * this.slotsPerEpoch;
    requireImportable(this, block, { currentSlot: this.#currentSlot, finalizedSlot });
  }

  #insert(block: ForkChoiceBlock): void {
    const index = this.tree.insert(block);
    this.retryBackoff.delete(block.root);
    if (block.execution.status === "valid") markPayloadValid(this.tree, [index]);
    this.#checkpoints = updateCheckpoints(this.#checkpoints, block);
    // compute_pulled_up_tip
    this.#checkpoints = updateUnrealizedCheckpoints(this.#checkpoints, block);
    if (this.epochOf(block.slot) < this.epochOf(this.#currentSlot)) {
      this.#checkpoints = updateCheckpoints(this.#checkpoints, unrealizedOf(block));
    }
    this.revision.raise();
  }

  #selectHead(): number {
    const { balances, totalActive } = this.#balances;
    this.tree.applyVoteDeltas(this.#votes.takeDeltas(this.tree.size, balances));
    return selectHead(this.tree, {
      justified: this.justified,
      finalized: this.finalized,
      currentSlot: this.#currentSlot,
      slotsPerEpoch: this.slotsPerEpoch,
      boostedNode: this.#boostedRoot === null ? NO_NODE : this.tree.indexOf(this.#boostedRoot),
      boostScore: proposerBoostScore(totalActive, this.slotsPerEpoch, this.#boostPercent),
      totalActiveBalance: totalActive,
    });
  }

  /**
   * update_proposer_boost_root. Returns true for the first timely block of the slot if its chain and the head's chain
   * share the dependent block for the epoch's proposers. Must be called before the block is added.
   */
  #deservesBoost(block: ForkChoiceBlock): boolean {
    if (this.#boostedRoot !== null || block.slot !== this.#currentSlot) return false;
    const dependentSlot = shufflingDependentSlot(this.epochOf(this.#currentSlot), this.slotsPerEpoch);
    const ofHead = this.tree.ancestorAtSlot(this.#selectHead(), dependentSlot);
    const ofBlock = this.tree.ancestorAtSlot(this.tree.indexOf(block.parentRoot), dependentSlot);
    // If the dependent block precedes the anchor, both chains share it.
    return ofHead === ofBlock;
  }

  /**
   * Records queued votes in slot order, even if the clock skipped slots, because a validator's first vote in an epoch
   * counts.
   */
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

const sum = (balances: Uint16Array): number => balances.reduce((total, balance) => total + balance, 0);
