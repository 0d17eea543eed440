import { PTC_SIZE, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { RootHex } from "@lodestar/types";
import { requireImportable } from "./block-assertions.ts";
import { VoteSupport } from "./confirmation/vote-support.ts";
import { ForkChoiceError } from "./error.ts";
import type { ForkChoiceAnchor, ForkChoiceConfig } from "./fork-choice-anchor.ts";
import { BlockArrivals } from "./head/block-arrivals.ts";
import { selectHead } from "./head/head-selection.ts";
import {
  attestationScoreOf,
  proposerBoostScore,
  shouldApplyProposerBoost,
  shufflingDependentSlot,
} from "./head/proposer-boost.ts";
import { type RecentBlock, type RestoredDuties, recentBlocks, restoreRecentBlock } from "./head/recent-blocks.ts";
import type { BackoffEntry } from "./payloads/backoff.ts";
import { markPayloadValid } from "./payloads/payload-status.ts";
import { PayloadTree } from "./payloads/payload-tree.ts";
import {
  initialCheckpoints,
  type StoreCheckpoints,
  unrealizedOf,
  updateCheckpoints,
  updateUnrealizedCheckpoints,
} from "./store-checkpoints.ts";
import { NO_NODE, ProtoArray, type ProtoNode } from "./tree/proto-array.ts";
import { descentFromFinalized } from "./tree/viability.ts";
import {
  type AttestationVotes,
  type BlockArrival,
  type Checkpoint,
  type ForkChoiceBlock,
  type ForkChoiceNode,
  isPayloadVerified,
  type JustifiedBalances,
  type PayloadStatus,
  sameCheckpoint,
} from "./types.ts";
import { AttestationRecorder } from "./votes/attestation-recorder.ts";
import { type ExportedVotes, exportVotes, importVotes } from "./votes/exported-votes.ts";
import { Votes, type VotesSnapshot } from "./votes/votes.ts";

/** Snapshot of fork choice. */
export interface ForkChoiceSnapshot {
  nodes: ProtoNode[];
  votes: VotesSnapshot;
  currentSlot: number;
  checkpoints: StoreCheckpoints;
  balances: JustifiedBalances;
  boostedRoot: RootHex | null;
  arrivals: ReturnType<BlockArrivals["capture"]>;
  payloadVotes: [RootHex, Uint8Array][];
  head: ForkChoiceBlock;
  headPayloadStatus: PayloadStatus;
  attestations: ReturnType<AttestationRecorder["capture"]>;
  retryBackoff: [RootHex, BackoffEntry][];
}

/**
 * Store and handlers of phase0/fork-choice.md and gloas/fork-choice.md, with payload statuses as defined in
 * sync/optimistic.md. Serves all forks, and a tree can contain blocks from before and after gloas.
 */
export class ForkChoice extends PayloadTree {
  readonly #votes = new Votes();
  readonly support = new VoteSupport(this.tree, this.#votes, this.slotsPerEpoch);
  readonly #attestations: AttestationRecorder;
  readonly #config: ForkChoiceConfig;
  #currentSlot: number;
  #checkpoints: StoreCheckpoints;
  #balances: JustifiedBalances;
  #boostedRoot: RootHex | null = null;
  readonly #arrivals = new BlockArrivals();
  #head: ForkChoiceBlock;
  #headPayloadStatus: PayloadStatus;

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
    const { checkpoint, balances, totalActiveBalance, effectiveBalances } = options;
    super(new ProtoArray(), {
      slotsPerEpoch: options.slotsPerEpoch ?? SLOTS_PER_EPOCH,
      ptcSize: options.ptcSize ?? PTC_SIZE,
    });
    this.#config = options.config;
    this.#attestations = new AttestationRecorder({
      tree: this.tree,
      votes: this.#votes,
      slotsPerEpoch: this.slotsPerEpoch,
      gloasForkEpoch: options.config.GLOAS_FORK_EPOCH,
    });
    this.#currentSlot = options.currentSlot;
    this.#checkpoints = initialCheckpoints(checkpoint);
    this.#balances = { checkpoint, balances, totalActive: totalActiveBalance ?? sum(balances), effectiveBalances };
    // The anchor justifies its own checkpoint, regardless of its state.
    this.#head = { ...options.anchor, unrealizedJustified: checkpoint, unrealizedFinalized: checkpoint };
    this.tree.insert(this.#head);
    this.#headPayloadStatus = this.#head.bid !== undefined && !isPayloadVerified(this.#head) ? "empty" : "full";
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

  /** Head selected by the last `updateHead`: its block, and whether it is full or empty. */
  get headNode(): ForkChoiceNode {
    return { root: this.#head.root, payloadStatus: this.#headPayloadStatus };
  }

  capture(): ForkChoiceSnapshot {
    return {
      nodes: this.tree.capture(),
      votes: this.#votes.capture(),
      currentSlot: this.#currentSlot,
      checkpoints: this.#checkpoints,
      balances: this.#balances,
      boostedRoot: this.#boostedRoot,
      arrivals: this.#arrivals.capture(),
      payloadVotes: this.payloadVotes.capture(),
      head: this.#head,
      headPayloadStatus: this.#headPayloadStatus,
      attestations: this.#attestations.capture(),
      retryBackoff: this.retryBackoff.capture(),
    };
  }

  /** Restores a snapshot, even across finality. */
  restore(snapshot: ForkChoiceSnapshot): void {
    this.tree.restore(snapshot.nodes);
    this.#votes.rewind(snapshot.votes);
    this.#currentSlot = snapshot.currentSlot;
    this.#checkpoints = snapshot.checkpoints;
    this.#balances = snapshot.balances;
    this.#boostedRoot = snapshot.boostedRoot;
    this.#arrivals.restore(snapshot.arrivals);
    this.payloadVotes.restore(snapshot.payloadVotes);
    this.#head = snapshot.head;
    this.#headPayloadStatus = snapshot.headPayloadStatus;
    this.#attestations.restore(snapshot.attestations);
    this.retryBackoff.restore(snapshot.retryBackoff);
    this.revision.raise();
  }

  /** on_tick. Ignores slots that are not later than the current one. */
  onTick(slot: number): void {
    if (slot <= this.#currentSlot) return;
    const newEpoch = this.epochOf(slot) > this.epochOf(this.#currentSlot);
    this.#currentSlot = slot;
    this.#boostedRoot = null;
    this.#arrivals.onTick(slot);
    if (newEpoch) {
      this.#checkpoints = updateCheckpoints(this.#checkpoints, unrealizedOf(this.#checkpoints));
      this.revision.raise();
    }
    this.#attestations.onTick(slot);
  }

  /**
   * Handles a clock that was set back, which the specification does not cover. Blocks after the new slot stay in the
   * tree until their slot (`selectHead`).
   */
  onClockSetBack(slot: number): void {
    if (slot >= this.#currentSlot) return;
    this.#attestations.onClockSetBack(this.#currentSlot);
    this.#currentSlot = slot;
    this.#boostedRoot = null;
  }

  /** on_block, after the state transition. */
  onBlock(block: ForkChoiceBlock, arrival: BlockArrival): void {
    if (this.has(block.root)) return;
    this.#requireImportable(block);
    const boosted = arrival.timely && this.#deservesBoost(block);
    this.#insert(block);
    if (boosted) this.#boostedRoot = block.root;
    this.#arrivals.record(block, arrival, this.#currentSlot);
  }

  /** Adds a block imported before a restart. It is neither boosted nor late before `restoreRecent`. */
  restoreBlock(block: ForkChoiceBlock): void {
    if (this.has(block.root)) return;
    this.#requireImportable(block);
    this.#insert(block);
  }

  /** Returns what a restart within the slot needs to know about the blocks of the current and previous slot. */
  recentBlocks(): RecentBlock[] {
    return recentBlocks(this.#recentParts, this.#boostedRoot);
  }

  /** Adds what was lost in a restart to a block of the current or previous slot. */
  restoreRecent(block: RecentBlock, duties: RestoredDuties): void {
    if (restoreRecentBlock(this.#recentParts, block, duties)) this.#boostedRoot = block.root;
    this.revision.raise();
  }

  /**
   * on_attestation. Queues a vote, which counts from the slot after its own. Ignores votes for blocks that are not in
   * the tree or are later than the vote (validate_on_attestation). Gossip votes must be from the current or previous
   * epoch (validate_target_epoch_against_current_time). Keeps a reference to the indices.
   */
  onAttestation(attestation: AttestationVotes, { isFromBlock = true } = {}): void {
    this.#attestations.onAttestation(attestation, { currentSlot: this.#currentSlot, isFromBlock });
  }

  /** on_attester_slashing, for the validators that signed both attestations. */
  onAttesterSlashing(indices: Iterable<number>): void {
    for (const index of indices) this.#votes.markEquivocating(index);
  }

  /** is_head_late. Returns false for blocks before the previous slot. */
  isLate(root: RootHex): boolean {
    return this.#arrivals.isLate(root);
  }

  isEquivocating(validator: number): boolean {
    return this.#votes.isEquivocating(validator);
  }

  /** get_attestation_score at the last head selection, in increments. Cheap for recent blocks. */
  attestationScore(root: RootHex): number {
    const index = this.tree.indexOf(root);
    return index === NO_NODE ? 0 : attestationScoreOf(this.tree, index);
  }

  /**
   * is_head_weak. Equivocating members of the committees of the block's slot count as votes for the block, but for
   * blocks before the previous slot.
   */
  isHeadWeak(root: RootHex): boolean {
    const { balances, effectiveBalances = balances } = this.#balances;
    let weight = this.attestationScore(root);
    for (const committee of this.#votes.hasEquivocations ? this.#arrivals.committeesOf(root) : []) {
      for (let position = 0; position < committee.length; position++) {
        const validator = committee[position]!;
        if (this.isEquivocating(validator)) weight += effectiveBalances[validator] ?? 0;
      }
    }
    return weight < this.committeeFraction(this.#config.REORG_HEAD_WEIGHT_THRESHOLD);
  }

  /** is_parent_strong, for the parent block. */
  isParentStrong(root: RootHex): boolean {
    return this.attestationScore(root) > this.committeeFraction(this.#config.REORG_PARENT_WEIGHT_THRESHOLD);
  }

  /** calculate_committee_fraction, in increments. */
  committeeFraction(percent: number): number {
    return proposerBoostScore(this.#balances.totalActive, this.slotsPerEpoch, percent);
  }

  /** Returns the justified checkpoint if its balances must be loaded, otherwise null. */
  needsBalances(): Checkpoint | null {
    return sameCheckpoint(this.#balances.checkpoint, this.justified) ? null : this.justified;
  }

  /** Keeps references to the arrays, which must not change afterwards. See `ForkChoiceAnchor` for their contents. */
  setJustifiedBalances(
    checkpoint: Checkpoint,
    balances: Uint16Array,
    totalActiveBalance?: number,
    effectiveBalances?: Uint16Array,
  ): void {
    this.#balances = { checkpoint, balances, totalActive: totalActiveBalance ?? sum(balances), effectiveBalances };
  }

  /** get_head: returns the block; `headNode` includes the payload status. Can change without any message. */
  updateHead(): ForkChoiceBlock {
    const index = this.#selectHead();
    const { block, variants } = this.tree.nodeAt(index);
    // sync/optimistic.md, "Re-orgs": an invalid justified block cannot be worked around.
    if (this.tree.isInvalid(index)) {
      throw new ForkChoiceError(
        "justified-payload-invalid",
        `The payload of the justified block ${block.root} is invalid, so no block can be the head.`,
      );
    }
    const payloadStatus = variants === null ? "full" : variants.chosen;
    if (block !== this.#head || payloadStatus !== this.#headPayloadStatus) {
      this.#head = block;
      this.#headPayloadStatus = payloadStatus;
      this.revision.raise();
    }
    return block;
  }

  /** Removes all blocks except the finalized one and its descendants. Returns the removed blocks, oldest first. */
  prune(): ForkChoiceBlock[] {
    if (!this.has(this.finalized.root)) return [];
    const keep = descentFromFinalized(this.tree, this.finalized, this.slotsPerEpoch);
    if (keep.every((flag) => flag === 1)) return [];
    const { removed, newIndexOf } = this.tree.prune(keep);
    this.#votes.remap(newIndexOf);
    for (const { root } of removed) this.payloadVotes.delete(root);
    this.revision.raise();
    return removed;
  }

  exportVotes(): ExportedVotes {
    return exportVotes(this.tree, this.#votes);
  }

  importVotes(exported: ExportedVotes): void {
    importVotes(this.tree, this.#votes, exported);
  }

  get #recentParts() {
    const { tree, payloadVotes, currentSlot } = this;
    return { tree, payloadVotes, currentSlot, arrivals: this.#arrivals };
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
    if (this.#votes.hasDeltas(balances)) {
      this.tree.applyVoteDeltas(this.#votes.takeDeltas(this.tree.size, balances));
    }
    const boostedNode = this.#boostedRoot === null ? NO_NODE : this.tree.indexOf(this.#boostedRoot);
    const isBoosted = shouldApplyProposerBoost(this.tree, boostedNode, {
      isWeak: (index) => this.isHeadWeak(this.tree.nodeAt(index).block.root),
      isPtcTimely: (index) => this.#arrivals.isPtcTimely(this.tree.nodeAt(index).block.root),
    });
    return selectHead(this.tree, {
      justified: this.justified,
      finalized: this.finalized,
      currentSlot: this.#currentSlot,
      slotsPerEpoch: this.slotsPerEpoch,
      boostedNode: isBoosted ? boostedNode : NO_NODE,
      boostScore: proposerBoostScore(totalActive, this.slotsPerEpoch, this.#config.PROPOSER_SCORE_BOOST),
      totalActiveBalance: totalActive,
      shouldExtendPayload: ({ root }) => this.shouldExtendPayload(root),
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
}

const sum = (balances: Uint16Array): number => balances.reduce((total, balance) => total + balance, 0);
