import type { RootHex } from "@lodestar/types";
import type { Checkpoint, ForkChoiceBlock, ForkChoiceNode } from "../../../../src/chain/fork-choice/types.ts";
import { sameCheckpoint } from "../../../../src/chain/fork-choice/types.ts";
import type { SpecStore } from "./spec-store.ts";

const GWEI = 1e9;
const COMMITTEE_WEIGHT_ESTIMATION_ADJUSTMENT_FACTOR = 5;
const CONFIRMATION_BYZANTINE_THRESHOLD = 25;

/** Balances of a state in ETH. No validator is inactive. */
export interface SpecBalances {
  /** Zero for slashed validators. */
  readonly balances: Uint16Array;
  readonly effectiveBalances: Uint16Array;
}

interface SpecFastConfirmationOptions {
  readonly slotsPerEpoch: number;
  readonly boostPercent: number;
  /** Members of the committees of a slot. */
  committee(slot: number): Iterable<number>;
  /** All blocks, including those that the store has pruned. */
  block(root: RootHex): ForkChoiceBlock;
  checkpointState(checkpoint: Checkpoint): SpecBalances;
  /** The state of the block, advanced to the epoch if it is of an earlier one. */
  pulledUpState(root: RootHex, epoch: number): SpecBalances;
  /** sync/optimistic.md: false for blocks that build on payloads without a verdict. */
  isValid(root: RootHex): boolean;
}

/**
 * Reference implementation of the store of phase0/fast-confirmation.md, function by function, with weights in Gwei that
 * a number holds exactly. Calls of get_head during one run of the rule return the same, so it is made once.
 */
export class SpecFastConfirmation {
  readonly store: SpecStore;
  confirmedRoot: RootHex;
  previousEpochObservedJustifiedCheckpoint: Checkpoint;
  currentEpochObservedJustifiedCheckpoint: Checkpoint;
  previousEpochGreatestUnrealizedCheckpoint: Checkpoint;
  previousSlotHead: RootHex;
  currentSlotHead: RootHex;
  readonly #options: SpecFastConfirmationOptions;
  #head: RootHex;

  /** get_fast_confirmation_store */
  constructor(store: SpecStore, options: SpecFastConfirmationOptions) {
    this.store = store;
    this.#options = options;
    this.confirmedRoot = store.finalized.root;
    this.previousEpochObservedJustifiedCheckpoint = store.finalized;
    this.currentEpochObservedJustifiedCheckpoint = store.finalized;
    this.previousEpochGreatestUnrealizedCheckpoint = store.finalized;
    this.previousSlotHead = store.finalized.root;
    this.currentSlotHead = store.finalized.root;
    this.#head = store.finalized.root;
  }

  onFastConfirmation(): void {
    this.#head = this.store.getHead().root;
    this.#updateFastConfirmationVariables();
    this.confirmedRoot = this.#getLatestConfirmed();
  }

  #updateFastConfirmationVariables(): void {
    const { store } = this;
    this.previousSlotHead = this.currentSlotHead;
    this.currentSlotHead = this.#head;
    if (this.#isStartSlotAtEpoch(store.currentSlot + 1)) {
      this.previousEpochGreatestUnrealizedCheckpoint = store.unrealizedJustified;
    }
    if (this.#isStartSlotAtEpoch(store.currentSlot)) {
      this.previousEpochObservedJustifiedCheckpoint = this.currentEpochObservedJustifiedCheckpoint;
      this.currentEpochObservedJustifiedCheckpoint = this.previousEpochGreatestUnrealizedCheckpoint;
    }
  }

  #getLatestConfirmed(): RootHex {
    const { store } = this;
    let { confirmedRoot } = this;
    const currentEpoch = this.#currentStoreEpoch();
    const head = this.#head;
    if (
      this.#getBlockEpoch(confirmedRoot) + 1 < currentEpoch ||
      !this.#isAncestor(head, confirmedRoot) ||
      (this.#isStartSlotAtEpoch(store.currentSlot) && !this.#isConfirmedChainSafe(confirmedRoot))
    ) {
      confirmedRoot = store.finalized.root;
    }
    const observed = this.currentEpochObservedJustifiedCheckpoint;
    const isEpochStart = this.#isStartSlotAtEpoch(store.currentSlot);
    const observedJustifiedBlockSlot = this.#getBlockSlot(observed.root);
    const isObservedJustifiedBlockEpochOk = this.#epochAt(observedJustifiedBlockSlot) + 1 === currentEpoch;
    const isHeadUnrealizedJustifiedOk = sameCheckpoint(observed, store.unrealizedJustifications.get(head)!);
    const isConfirmedBlockStale = this.#getBlockSlot(confirmedRoot) < observedJustifiedBlockSlot;
    if (isEpochStart && isObservedJustifiedBlockEpochOk && isHeadUnrealizedJustifiedOk && isConfirmedBlockStale) {
      confirmedRoot = observed.root;
    }
    if (this.#getBlockEpoch(confirmedRoot) + 1 >= currentEpoch) {
      return this.#findLatestConfirmedDescendant(confirmedRoot);
    }
    return confirmedRoot;
  }

  #findLatestConfirmedDescendant(latestConfirmedRoot: RootHex): RootHex {
    const { store } = this;
    const head = this.#head;
    const currentEpoch = this.#currentStoreEpoch();
    const isEpochStart = this.#isStartSlotAtEpoch(store.currentSlot);
    const unrealizedEpoch = (root: RootHex) => store.unrealizedJustifications.get(root)!.epoch;
    let confirmedRoot = latestConfirmedRoot;
    if (
      this.#getBlockEpoch(confirmedRoot) + 1 === currentEpoch &&
      this.#getVotingSource(this.previousSlotHead).epoch + 2 >= currentEpoch &&
      (isEpochStart ||
        (this.#willNoConflictingCheckpointBeJustified() &&
          (unrealizedEpoch(this.previousSlotHead) + 1 >= currentEpoch || unrealizedEpoch(head) + 1 >= currentEpoch)))
    ) {
      for (const blockRoot of this.#getAncestorRoots(head, confirmedRoot)) {
        if (this.#getBlockEpoch(blockRoot) === currentEpoch) break;
        if (!this.#isAncestor(this.previousSlotHead, blockRoot)) break;
        if (!this.#isOneConfirmed(this.currentEpochObservedJustifiedCheckpoint, blockRoot)) break;
        confirmedRoot = blockRoot;
      }
    }
    if (isEpochStart || unrealizedEpoch(head) + 1 >= currentEpoch) {
      let tentativeConfirmedRoot = confirmedRoot;
      for (const blockRoot of this.#getAncestorRoots(head, confirmedRoot)) {
        const blockEpoch = this.#getBlockEpoch(blockRoot);
        const tentativeConfirmedEpoch = this.#getBlockEpoch(tentativeConfirmedRoot);
        if (blockEpoch > tentativeConfirmedEpoch && !this.#willCurrentTargetBeJustified()) break;
        if (!this.#isOneConfirmed(this.currentEpochObservedJustifiedCheckpoint, blockRoot)) break;
        tentativeConfirmedRoot = blockRoot;
      }
      if (
        this.#getBlockEpoch(tentativeConfirmedRoot) === currentEpoch ||
        (this.#getVotingSource(tentativeConfirmedRoot).epoch + 2 >= currentEpoch &&
          (isEpochStart || this.#willNoConflictingCheckpointBeJustified()))
      ) {
        confirmedRoot = tentativeConfirmedRoot;
      }
    }
    return confirmedRoot;
  }

  #isConfirmedChainSafe(confirmedRoot: RootHex): boolean {
    const observed = this.currentEpochObservedJustifiedCheckpoint;
    const checkpoint = { epoch: observed.epoch, root: this.#getCheckpointBlock(confirmedRoot, observed.epoch) };
    if (!sameCheckpoint(observed, checkpoint)) return false;
    const currentEpoch = this.#currentStoreEpoch();
    let startRootExclusive: RootHex;
    if (observed.epoch + 1 >= currentEpoch) {
      startRootExclusive = observed.root;
    } else {
      const ancestor = this.#getAncestor(confirmedRoot, (currentEpoch - 1) * this.#options.slotsPerEpoch);
      startRootExclusive =
        this.#getBlockEpoch(ancestor) + 1 === currentEpoch ? this.#options.block(ancestor).parentRoot : ancestor;
    }
    return this.#getAncestorRoots(confirmedRoot, startRootExclusive).every((root) =>
      this.#isOneConfirmed(this.previousEpochObservedJustifiedCheckpoint, root),
    );
  }

  #isOneConfirmed(balanceSource: Checkpoint, blockRoot: RootHex): boolean {
    if (!this.#options.isValid(blockRoot)) return false;
    const state = this.#options.checkpointState(balanceSource);
    const support = this.store.getAttestationScore(getNodeForRoot(blockRoot), state);
    return support > this.#computeSafetyThreshold(blockRoot, state);
  }

  #computeSafetyThreshold(blockRoot: RootHex, balanceSource: SpecBalances): number {
    const { currentSlot } = this.store;
    const parentBlock = this.#options.block(this.#options.block(blockRoot).parentRoot);
    const totalActiveBalance = getTotalActiveBalance(balanceSource);
    const proposerScore = Math.floor(
      (Math.floor(totalActiveBalance / this.#options.slotsPerEpoch) * this.#options.boostPercent) / 100,
    );
    const maximumSupport = this.#estimateCommitteeWeightBetweenSlots(
      totalActiveBalance,
      parentBlock.slot + 1,
      currentSlot - 1,
    );
    const supportDiscount = this.#computeEmptySlotSupportDiscount(balanceSource, blockRoot);
    const adversarialWeight = this.#getAdversarialWeight(balanceSource, blockRoot);
    if (supportDiscount < maximumSupport + proposerScore + 2 * adversarialWeight) {
      return Math.floor((maximumSupport + proposerScore + 2 * adversarialWeight - supportDiscount) / 2);
    }
    return 0;
  }

  #computeEmptySlotSupportDiscount(balanceSource: SpecBalances, blockRoot: RootHex): number {
    const block = this.#options.block(blockRoot);
    const parentBlock = this.#options.block(block.parentRoot);
    if (parentBlock.slot + 1 === block.slot) return 0;
    const [startSlot, endSlot] = [parentBlock.slot + 1, block.slot - 1];
    const parentSupport = this.#getBlockSupportBetweenSlots(balanceSource, block.parentRoot, startSlot, endSlot);
    const adversarialWeight = this.#computeAdversarialWeight(balanceSource, startSlot, endSlot);
    return parentSupport > adversarialWeight ? parentSupport - adversarialWeight : 0;
  }

  #getAdversarialWeight(balanceSource: SpecBalances, blockRoot: RootHex): number {
    const { currentSlot } = this.store;
    const block = this.#options.block(blockRoot);
    if (this.#getBlockEpoch(blockRoot) > this.#getBlockEpoch(block.parentRoot)) {
      const startSlot = this.#getBlockEpoch(blockRoot) * this.#options.slotsPerEpoch;
      return this.#computeAdversarialWeight(balanceSource, startSlot, currentSlot - 1);
    }
    return this.#computeAdversarialWeight(balanceSource, block.slot, currentSlot - 1);
  }

  #computeAdversarialWeight(balanceSource: SpecBalances, startSlot: number, endSlot: number): number {
    const totalActiveBalance = getTotalActiveBalance(balanceSource);
    const maximumWeight = this.#estimateCommitteeWeightBetweenSlots(totalActiveBalance, startSlot, endSlot);
    const maxAdversarialWeight = Math.floor(maximumWeight / 100) * CONFIRMATION_BYZANTINE_THRESHOLD;
    const equivocationScore = this.#getEquivocationScore(balanceSource, startSlot, endSlot);
    return maxAdversarialWeight > equivocationScore ? maxAdversarialWeight - equivocationScore : 0;
  }

  #getEquivocationScore({ effectiveBalances }: SpecBalances, startSlot: number, endSlot: number): number {
    let score = 0;
    for (const index of this.#participants(startSlot, endSlot)) {
      if (this.store.equivocatingIndices.has(index)) score += effectiveBalances[index]! * GWEI;
    }
    return score;
  }

  #getBlockSupportBetweenSlots(
    { balances }: SpecBalances,
    blockRoot: RootHex,
    startSlot: number,
    endSlot: number,
  ): number {
    let support = 0;
    for (const index of this.#participants(startSlot, endSlot)) {
      const isVote = this.store.latestMessages.get(index)?.root === blockRoot;
      if (isVote && !this.store.equivocatingIndices.has(index)) support += balances[index]! * GWEI;
    }
    return support;
  }

  #participants(startSlot: number, endSlot: number): Set<number> {
    const participants = new Set<number>();
    for (let slot = startSlot; slot <= endSlot; slot++) {
      for (const index of this.#options.committee(slot)) participants.add(index);
    }
    return participants;
  }

  #estimateCommitteeWeightBetweenSlots(totalActiveBalance: number, startSlot: number, endSlot: number): number {
    const { slotsPerEpoch } = this.#options;
    if (startSlot > endSlot) return 0;
    if (this.#isFullValidatorSetCovered(startSlot, endSlot)) return totalActiveBalance;
    const startEpoch = this.#epochAt(startSlot);
    const endEpoch = this.#epochAt(endSlot);
    const committeeWeight = Math.floor(totalActiveBalance / slotsPerEpoch);
    if (startEpoch === endEpoch) return committeeWeight * (endSlot - startSlot + 1);
    const numSlotsInEndEpoch = (endSlot % slotsPerEpoch) + 1;
    const remainingSlotsInEndEpoch = slotsPerEpoch - numSlotsInEndEpoch;
    const numSlotsInStartEpoch = slotsPerEpoch - (startSlot % slotsPerEpoch);
    const startEpochWeight = committeeWeight * numSlotsInStartEpoch;
    const endEpochWeight = committeeWeight * numSlotsInEndEpoch;
    const startEpochWeightProRated = Math.floor(startEpochWeight / slotsPerEpoch) * remainingSlotsInEndEpoch;
    const ceil = Math.floor((startEpochWeightProRated + endEpochWeight + 999) / 1000);
    return ceil * (1000 + COMMITTEE_WEIGHT_ESTIMATION_ADJUSTMENT_FACTOR);
  }

  #isFullValidatorSetCovered(startSlot: number, endSlot: number): boolean {
    const startFullEpoch = this.#epochAt(startSlot + this.#options.slotsPerEpoch - 1);
    const endFullEpoch = this.#epochAt(endSlot + 1);
    return startFullEpoch < endFullEpoch;
  }

  #getCurrentTarget(): Checkpoint {
    const epoch = this.#currentStoreEpoch();
    return { epoch, root: this.#getCheckpointBlock(this.#head, epoch) };
  }

  #getCurrentTargetScore({ balances }: SpecBalances): number {
    const target = this.#getCurrentTarget();
    let score = 0;
    for (const [index, { epoch, root }] of this.store.latestMessages) {
      if (this.store.equivocatingIndices.has(index)) continue;
      const checkpoint = { epoch, root: this.#getCheckpointBlock(root, epoch) };
      if (sameCheckpoint(target, checkpoint)) score += balances[index]! * GWEI;
    }
    return score;
  }

  #computeHonestFfgSupportForCurrentTarget(): number {
    const { currentSlot } = this.store;
    const startSlot = this.#currentStoreEpoch() * this.#options.slotsPerEpoch;
    const balanceSource = this.#pulledUpHeadState();
    const totalActiveBalance = getTotalActiveBalance(balanceSource);
    const ffgSupport = this.#getCurrentTargetScore(balanceSource);
    const ffgWeightTillNow = this.#estimateCommitteeWeightBetweenSlots(totalActiveBalance, startSlot, currentSlot - 1);
    const remainingFfgWeight = totalActiveBalance - ffgWeightTillNow;
    const remainingHonestFfgWeight = Math.floor(remainingFfgWeight / 100) * (100 - CONFIRMATION_BYZANTINE_THRESHOLD);
    const adversarialWeight = this.#computeAdversarialWeight(balanceSource, startSlot, currentSlot - 1);
    return ffgSupport - Math.min(adversarialWeight, ffgSupport) + remainingHonestFfgWeight;
  }

  #willNoConflictingCheckpointBeJustified(): boolean {
    if (sameCheckpoint(this.#getCurrentTarget(), this.store.unrealizedJustified)) return true;
    const totalActiveBalance = getTotalActiveBalance(this.#pulledUpHeadState());
    return 3 * this.#computeHonestFfgSupportForCurrentTarget() > totalActiveBalance;
  }

  #willCurrentTargetBeJustified(): boolean {
    const totalActiveBalance = getTotalActiveBalance(this.#pulledUpHeadState());
    return 3 * this.#computeHonestFfgSupportForCurrentTarget() >= 2 * totalActiveBalance;
  }

  #pulledUpHeadState(): SpecBalances {
    return this.#options.pulledUpState(this.#head, this.#currentStoreEpoch());
  }

  #getAncestorRoots(blockRoot: RootHex, terminalRoot: RootHex): RootHex[] {
    let root = blockRoot;
    const ancestorRoots: RootHex[] = [];
    while (this.#getBlockSlot(root) > this.#getBlockSlot(terminalRoot)) {
      ancestorRoots.unshift(root);
      root = this.#options.block(root).parentRoot;
      if (root === terminalRoot) return ancestorRoots;
    }
    return [];
  }

  #getVotingSource(root: RootHex): Checkpoint {
    const { slot, justified } = this.#options.block(root);
    if (this.#currentStoreEpoch() > this.#epochAt(slot)) return this.store.unrealizedJustifications.get(root)!;
    return justified;
  }

  /** get_ancestor, for nodes regardless of their payloads. */
  #getAncestor(root: RootHex, slot: number): RootHex {
    let ancestor = root;
    while (this.#getBlockSlot(ancestor) > slot) ancestor = this.#options.block(ancestor).parentRoot;
    return ancestor;
  }

  #isAncestor(root: RootHex, ancestor: RootHex): boolean {
    return this.#getAncestor(root, this.#getBlockSlot(ancestor)) === ancestor;
  }

  #getCheckpointBlock(root: RootHex, epoch: number): RootHex {
    return this.#getAncestor(root, epoch * this.#options.slotsPerEpoch);
  }

  #getBlockSlot(root: RootHex): number {
    return this.#options.block(root).slot;
  }

  #getBlockEpoch(root: RootHex): number {
    return this.#epochAt(this.#getBlockSlot(root));
  }

  #currentStoreEpoch(): number {
    return this.#epochAt(this.store.currentSlot);
  }

  #epochAt(slot: number): number {
    return Math.floor(slot / this.#options.slotsPerEpoch);
  }

  #isStartSlotAtEpoch(slot: number): boolean {
    return slot % this.#options.slotsPerEpoch === 0;
  }
}

/** get_node_for_root */
const getNodeForRoot = (root: RootHex): ForkChoiceNode => ({ root, payloadStatus: "pending" });

const getTotalActiveBalance = ({ effectiveBalances }: SpecBalances): number =>
  effectiveBalances.reduce((total, balance) => total + balance, 0) * GWEI;
