import type { RootHex } from "@lodestar/types";
import type {
  Checkpoint,
  ForkChoiceBlock,
  ForkChoiceNode,
  PayloadAttestationVotes,
} from "../../../../src/chain/fork-choice/types.ts";
import { SpecCheckpoints } from "./spec-checkpoints.ts";

const GENESIS_EPOCH = 0;
const MIN_SEED_LOOKAHEAD = 1;
const GWEI = 1e9;

export interface SpecAttestation {
  readonly indices: readonly number[];
  readonly slot: number;
  readonly blockRoot: RootHex;
  readonly target: Checkpoint;
  /** `data.index`, which is the payload vote since gloas. Defaults to 0. */
  readonly index?: number;
}

/** Data that the store needs from a checkpoint's state. */
export interface CheckpointBalances {
  /** Effective balances in ETH; zero for inactive or slashed validators. */
  readonly balances: Uint16Array;
  /** Total active balance, including slashed validators. */
  readonly totalActive: number;
  /** Effective balances of all validators; defaults to `balances`. */
  readonly effectiveBalances?: Uint16Array;
}

interface SpecStoreOptions {
  readonly anchor: ForkChoiceBlock;
  readonly checkpoint: Checkpoint;
  readonly currentSlot: number;
  readonly slotsPerEpoch: number;
  /** Defaults are those of mainnet. */
  readonly boostPercent?: number;
  readonly reorgHeadWeightPercent?: number;
  readonly reorgParentWeightPercent?: number;
  readonly reorgMaxEpochsSinceFinalization?: number;
  /** First epoch of gloas; never by default. */
  readonly gloasEpoch?: number;
  readonly ptcSize?: number;
  balancesAt(checkpoint: Checkpoint): CheckpointBalances;
  /** All members of the committees of a block's slot, in the block's state. */
  committeeMembers?(root: RootHex): Iterable<number>;
}

/** Whether the block arrived before the deadlines of its slot; the indices are those of block_timeliness. */
type Timeliness = readonly [isBeforeAttesting: boolean, isBeforePayloadAttesting: boolean];

interface LatestMessage {
  epoch: number;
  slot: number;
  root: RootHex;
  payloadPresent: boolean;
}

interface CommitteeVotes {
  timeliness: (boolean | null)[];
  dataAvailability: (boolean | null)[];
}

/** A call that the specification rejects. It changed nothing. */
export class SpecAssertion extends Error {}

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
 * Reference implementation of the store of phase0/fork-choice.md and gloas/fork-choice.md, function by function. Blocks
 * come with the checkpoints of their state, realized and unrealized; time is in whole slots. What gloas changes applies
 * to its blocks and to attestations of its slots, so that a store can cross the fork.
 */
export class SpecStore extends SpecCheckpoints {
  readonly equivocatingIndices = new Set<number>();
  boostedRoot: RootHex | null = null;
  readonly latestMessages = new Map<number, LatestMessage>();
  readonly #timeliness = new Map<RootHex, Timeliness>();
  readonly #committeeVotes = new Map<RootHex, CommitteeVotes>();
  #delayed: SpecAttestation[] = [];
  readonly #options: Required<SpecStoreOptions>;

  /** get_forkchoice_store */
  constructor(options: SpecStoreOptions) {
    super(options);
    this.#options = {
      boostPercent: 40,
      reorgHeadWeightPercent: 20,
      reorgParentWeightPercent: 160,
      reorgMaxEpochsSinceFinalization: 2,
      gloasEpoch: Number.POSITIVE_INFINITY,
      ptcSize: 512,
      committeeMembers: () => [],
      ...options,
    };
    this.#timeliness.set(options.anchor.root, [true, true]);
  }

  onTick(slot: number): void {
    while (this.currentSlot < slot) {
      this.currentSlot++;
      this.boostedRoot = null;
      if (this.currentSlot % this.slotsPerEpoch === 0) {
        this.updateCheckpoints(this.unrealizedJustified, this.unrealizedFinalized);
      }
      this.#considerDelayed();
    }
  }

  /** `timeliness`: before which deadlines of the slot it arrived in the block arrived. */
  onBlock(block: ForkChoiceBlock, timeliness: Timeliness, payloadAttestations: PayloadAttestationVotes[] = []): void {
    if (this.blocks.has(block.root)) return;
    assert(this.blocks.has(block.parentRoot), "the parent is known");
    if (this.parentPayloadStatus(block) === "full") {
      assert(this.isPayloadVerified(block.parentRoot), "the payload of a full parent is verified");
    }
    assert(this.currentSlot >= block.slot, "the block is not of the future");
    assert(block.slot > this.finalized.epoch * this.slotsPerEpoch, "the block is after the finalized slot");
    const finalizedOfBlock = this.getCheckpointBlock(block.parentRoot, this.finalized.epoch);
    assert(this.finalized.root === finalizedOfBlock, "the block descends from the finalized one");

    const head = this.getHead();
    this.blocks.set(block.root, block);
    for (const votes of payloadAttestations) this.onPayloadAttestation(votes, { isFromBlock: true });
    this.#recordBlockTimeliness(block, timeliness);
    this.#updateProposerBoostRoot(head.root, block.root);
    this.updateCheckpoints(block.justified, block.finalized);
    this.computePulledUpTip(block);
  }

  /** on_execution_payload_envelope, for an envelope that is valid and whose data is available. */
  onPayload(root: RootHex): void {
    assert(this.blocks.has(root), "the block of the payload is known");
    this.payloads.add(root);
  }

  /** on_payload_attestation_message, for members of the committee with a valid signature. */
  onPayloadAttestation(votes: PayloadAttestationVotes, { isFromBlock }: { isFromBlock: boolean }): void {
    const block = this.blocks.get(votes.blockRoot);
    assert(block !== undefined, "the block of the payload attestation is known");
    if (votes.slot !== block.slot) return;
    if (!isFromBlock) assert(votes.slot === this.currentSlot, "the payload attestation is of the current slot");
    const recorded = this.committeeVotes(block.root);
    this.#committeeVotes.set(block.root, recorded);
    for (const position of votes.positions) {
      recorded.timeliness[position] = votes.payloadPresent;
      recorded.dataAvailability[position] = votes.blobDataAvailable;
    }
  }

  /** payload_timeliness_vote and payload_data_availability_vote. The specification has none for the anchor. */
  committeeVotes(root: RootHex): CommitteeVotes {
    const none = () => new Array<boolean | null>(this.#options.ptcSize).fill(null);
    return this.#committeeVotes.get(root) ?? { timeliness: none(), dataAvailability: none() };
  }

  /**
   * Returns whether the attestation counts already. One that may become valid is retried each slot, as the
   * specification suggests; others fail an assertion.
   */
  onAttestation(attestation: SpecAttestation, { isFromBlock }: { isFromBlock: boolean }): "counted" | "delayed" {
    const isDelayed = this.currentSlot < attestation.slot + 1;
    this.#validateOnAttestation(attestation, isDelayed);
    if (isDelayed) {
      this.#delayed.push(attestation);
      return "delayed";
    }
    if (!isFromBlock) this.#validateTargetEpochAgainstCurrentTime(attestation);
    this.#updateLatestMessages(attestation);
    return "counted";
  }

  onAttesterSlashing(indices: Iterable<number>): void {
    for (const index of indices) this.equivocatingIndices.add(index);
  }

  getHead(): ForkChoiceNode {
    const viable = this.getFilteredBlockTree();
    let head: ForkChoiceNode = { root: this.justified.root, payloadStatus: "pending" };
    for (;;) {
      const children = this.nodeChildren(viable, head);
      if (children.length === 0) return head;
      // Weights are costly here, and a single child needs none.
      head = children.length === 1 ? children[0]! : children.reduce((best, child) => this.#better(best, child));
    }
  }

  /** Leaves of the tree in which the head is searched, by weight in Gwei. */
  viableHeads(): (ForkChoiceNode & { weight: number })[] {
    const viable = this.getFilteredBlockTree();
    const leaves: (ForkChoiceNode & { weight: number })[] = [];
    const pending: ForkChoiceNode[] = [{ root: this.justified.root, payloadStatus: "pending" }];
    for (let node = pending.pop(); node; node = pending.pop()) {
      const children = this.nodeChildren(viable, node);
      if (children.length === 0) leaves.push({ ...node, weight: this.getWeight(node) });
      pending.push(...children);
    }
    return leaves;
  }

  /** In Gwei. */
  getWeight(node: ForkChoiceNode): number {
    if (this.#isPreviousSlotPayloadDecision(node)) return 0;
    const score = this.getAttestationScore(node);
    if (!this.shouldApplyProposerBoost()) return score;
    const boosted: ForkChoiceNode = { root: this.boostedRoot!, payloadStatus: "pending" };
    return this.isAncestor(boosted, node) ? score + this.#committeeFraction(this.#options.boostPercent) : score;
  }

  shouldApplyProposerBoost(): boolean {
    if (this.boostedRoot === null) return false;
    const { bid, parentRoot, slot } = this.blocks.get(this.boostedRoot)!;
    if (bid === undefined) return true;
    const parent = this.blocks.get(parentRoot)!;
    if (parent.slot + 1 < slot) return true;
    if (!this.isHeadWeak(parentRoot)) return true;
    for (const block of this.blocks.values()) {
      const isEquivocation =
        this.#timeliness.get(block.root)![1] &&
        block.proposerIndex === parent.proposerIndex &&
        block.slot + 1 === slot &&
        block.root !== parentRoot;
      if (isEquivocation) return false;
    }
    return true;
  }

  isHeadWeak(root: RootHex): boolean {
    const { balances, effectiveBalances = balances } = this.#options.balancesAt(this.justified);
    let weight = this.getAttestationScore({ root, payloadStatus: "pending" });
    for (const index of this.#options.committeeMembers(root)) {
      if (this.equivocatingIndices.has(index)) weight += (effectiveBalances[index] ?? 0) * GWEI;
    }
    return weight < this.#committeeFraction(this.#options.reorgHeadWeightPercent);
  }

  /** `isOnTime`: is_proposing_on_time */
  getProposerHead(head: ForkChoiceNode, slot: number, isOnTime: boolean): ForkChoiceNode {
    const headBlock = this.blocks.get(head.root)!;
    const { parentRoot } = headBlock;
    const parentBlock = this.blocks.get(parentRoot);
    if (parentBlock === undefined) return head;
    const parent = { root: parentRoot, payloadStatus: this.parentPayloadStatus(headBlock) };
    const options = this.#options;
    const isLate = !this.#timeliness.get(head.root)![0];
    const [ownUnrealized, parentUnrealized] = [head.root, parentRoot].map((root) => {
      return this.unrealizedJustifications.get(root)!;
    }) as [Checkpoint, Checkpoint];
    const isFfgCompetitive =
      ownUnrealized.epoch === parentUnrealized.epoch && ownUnrealized.root === parentUnrealized.root;
    const epochsSinceFinalization = this.epochOf(slot) - this.finalized.epoch;
    const isCurrent = headBlock.slot + 1 === slot;
    const isWeak = this.isHeadWeak(head.root);
    const parentScore = this.getAttestationScore({ root: parentRoot, payloadStatus: "pending" });
    const isParentStrong = parentScore > this.#committeeFraction(options.reorgParentWeightPercent);
    const isReorgable =
      isLate &&
      slot % this.slotsPerEpoch !== 0 &&
      isFfgCompetitive &&
      epochsSinceFinalization <= options.reorgMaxEpochsSinceFinalization &&
      isOnTime &&
      parentBlock.slot + 1 === headBlock.slot &&
      isCurrent &&
      isWeak &&
      isParentStrong;
    return isReorgable || (isWeak && isCurrent && this.#isProposerEquivocation(headBlock)) ? parent : head;
  }

  payloadTimeliness(root: RootHex, timely: boolean): boolean {
    if (!this.isPayloadVerified(root)) return !timely;
    return isMajority(this.committeeVotes(root).timeliness, timely);
  }

  payloadDataAvailability(root: RootHex, available: boolean): boolean {
    if (!this.isPayloadVerified(root)) return !available;
    return isMajority(this.committeeVotes(root).dataAvailability, available);
  }

  shouldExtendPayload(root: RootHex): boolean {
    assert(this.blocks.get(root)!.slot + 1 === this.currentSlot, "the block is of the previous slot");
    if (!this.isPayloadVerified(root)) return false;
    if (this.payloadTimeliness(root, true) && this.payloadDataAvailability(root, true)) return true;
    if (this.boostedRoot === null) return true;
    const boosted = this.blocks.get(this.boostedRoot)!;
    return boosted.parentRoot !== root || this.parentPayloadStatus(boosted) === "full";
  }

  shouldBuildOnFull({ root, payloadStatus }: ForkChoiceNode, slot: number): boolean {
    if (this.blocks.get(root)!.slot + 1 !== slot) return payloadStatus === "full";
    if (payloadStatus === "empty") return false;
    return !this.payloadTimeliness(root, false) && !this.payloadDataAvailability(root, false);
  }

  /**
   * Not in the specification: drops blocks that do not descend from the finalized checkpoint. None can be head, and
   * later votes for them are votes for unknown blocks.
   */
  prune(): void {
    const { root: finalizedRoot, epoch } = this.finalized;
    const left = [...this.blocks.keys()].filter((root) => this.getCheckpointBlock(root, epoch) !== finalizedRoot);
    for (const root of left) {
      this.blocks.delete(root);
      this.payloads.delete(root);
    }
  }

  #considerDelayed(): void {
    const delayed = this.#delayed;
    this.#delayed = [];
    for (const attestation of delayed) {
      assertionOf(() => this.onAttestation(attestation, { isFromBlock: false }));
    }
  }

  /** validate_on_attestation. One that is delayed may become valid with the payload it votes for. */
  #validateOnAttestation({ slot, blockRoot, target, index = 0 }: SpecAttestation, isDelayed: boolean): void {
    assert(target.epoch === this.epochOf(slot), "the target is of the epoch of the attestation");
    assert(this.blocks.has(target.root), "the target is known");
    const block = this.blocks.get(blockRoot);
    assert(block !== undefined, "the block is known");
    assert(block.slot <= slot, "the block is not later than the attestation");
    if (this.#isGloas(slot)) {
      assert(index === 0 || index === 1, "the index is 0 or 1");
      if (block.slot === slot) assert(index === 0, "the index is 0 for a block of the same slot");
      if (index === 1 && !isDelayed) assert(this.isPayloadVerified(blockRoot), "the payload voted for is verified");
    }
    assert(target.root === this.getCheckpointBlock(blockRoot, target.epoch), "the target is that of the block");
  }

  #validateTargetEpochAgainstCurrentTime({ target }: SpecAttestation): void {
    const currentEpoch = this.epochOf(this.currentSlot);
    const previousEpoch = Math.max(GENESIS_EPOCH, currentEpoch - 1);
    assert(
      target.epoch === currentEpoch || target.epoch === previousEpoch,
      "the target is of the current or the previous epoch",
    );
  }

  /** Compares slots since gloas and target epochs before. */
  #updateLatestMessages({ indices, slot, target, blockRoot, index = 0 }: SpecAttestation): void {
    for (const validator of indices) {
      if (this.equivocatingIndices.has(validator)) continue;
      const latest = this.latestMessages.get(validator);
      const isLater = latest === undefined || (this.#isGloas(slot) ? slot > latest.slot : target.epoch > latest.epoch);
      if (!isLater) continue;
      const message = { epoch: target.epoch, slot, root: blockRoot, payloadPresent: index === 1 };
      this.latestMessages.set(validator, message);
    }
  }

  /** get_supported_node */
  #getSupportedNode({ root, slot, payloadPresent }: LatestMessage): ForkChoiceNode {
    const block = this.blocks.get(root);
    if (block?.bid === undefined || block.slot >= slot) return { root, payloadStatus: "pending" };
    return { root, payloadStatus: payloadPresent ? "full" : "empty" };
  }

  /** get_attestation_score, in Gwei */
  getAttestationScore(
    node: ForkChoiceNode,
    { balances }: Pick<CheckpointBalances, "balances"> = this.#options.balancesAt(this.justified),
  ): number {
    let score = 0;
    for (const [index, message] of this.latestMessages) {
      if (this.equivocatingIndices.has(index)) continue;
      if (this.isAncestor(this.#getSupportedNode(message), node)) score += (balances[index] ?? 0) * GWEI;
    }
    return score;
  }

  /** calculate_committee_fraction */
  #committeeFraction(percent: number): number {
    const { totalActive } = this.#options.balancesAt(this.justified);
    return Math.floor((Math.floor((totalActive * GWEI) / this.slotsPerEpoch) * percent) / 100);
  }

  /** The key of max() in get_head: weight, root and get_payload_status_tiebreaker. */
  #better(best: ForkChoiceNode, child: ForkChoiceNode): ForkChoiceNode {
    const difference = this.getWeight(child) - this.getWeight(best);
    if (difference !== 0) return difference > 0 ? child : best;
    if (child.root !== best.root) return child.root > best.root ? child : best;
    return this.#payloadStatusTiebreaker(child) > this.#payloadStatusTiebreaker(best) ? child : best;
  }

  #payloadStatusTiebreaker(node: ForkChoiceNode): number {
    if (!this.#isPreviousSlotPayloadDecision(node)) return { empty: 0, full: 1, pending: 2 }[node.payloadStatus];
    if (node.payloadStatus === "empty") return 1;
    return this.shouldExtendPayload(node.root) ? 2 : 0;
  }

  #isPreviousSlotPayloadDecision({ root, payloadStatus }: ForkChoiceNode): boolean {
    const { bid, slot } = this.blocks.get(root)!;
    return bid !== undefined && payloadStatus !== "pending" && slot + 1 === this.currentSlot;
  }

  #isProposerEquivocation({ root, slot, proposerIndex }: ForkChoiceBlock): boolean {
    return [...this.blocks.values()].some(
      (other) => other.root !== root && other.slot === slot && other.proposerIndex === proposerIndex,
    );
  }

  #recordBlockTimeliness({ root, slot }: ForkChoiceBlock, [isBeforeAttesting, isBeforePtc]: Timeliness): void {
    const isCurrent = this.currentSlot === slot;
    this.#timeliness.set(root, [isCurrent && isBeforeAttesting, isCurrent && isBeforePtc]);
  }

  #updateProposerBoostRoot(head: RootHex, root: RootHex): void {
    const epoch = this.epochOf(this.currentSlot);
    const isFirstBlock = this.boostedRoot === null;
    const isTimely = this.#timeliness.get(root)![0];
    const isSameDependentRoot = this.#dependentRoot(head, epoch) === this.#dependentRoot(root, epoch);
    if (isTimely && isFirstBlock && isSameDependentRoot) this.boostedRoot = root;
  }

  /** get_shuffling_dependent_root */
  #dependentRoot(root: RootHex, epoch: number): RootHex {
    const slot = epoch <= MIN_SEED_LOOKAHEAD ? 0 : (epoch - MIN_SEED_LOOKAHEAD) * this.slotsPerEpoch - 1;
    return this.getAncestor({ root, payloadStatus: "pending" }, slot).root;
  }

  #isGloas(slot: number): boolean {
    return this.epochOf(slot) >= this.#options.gloasEpoch;
  }
}

/** PAYLOAD_TIMELY_THRESHOLD and DATA_AVAILABILITY_TIMELY_THRESHOLD */
function isMajority(votes: readonly (boolean | null)[], value: boolean): boolean {
  return votes.filter((vote) => vote === value).length > Math.floor(votes.length / 2);
}
