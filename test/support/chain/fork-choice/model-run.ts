import { expect } from "vitest";
import { ForkChoice } from "../../../../src/chain/fork-choice/fork-choice.ts";
import type { Checkpoint, ForkChoiceNode, PayloadAttestationVotes } from "../../../../src/chain/fork-choice/types.ts";
import { applyBlockAttestations } from "../../../../src/chain/import/fork-choice-import.ts";
import { RandomChoices } from "../../random/random-choices.ts";
import { name, refusalOf, toBlockOperations } from "./block-operations.ts";
import { EPOCH, FORK_CHOICE_CONFIG } from "./blocks.ts";
import type { Happenings } from "./happenings.ts";
import { compareHeads, compareWeights } from "./model-comparison.ts";
import { ModelConfirmation } from "./model-confirmation.ts";
import { assertionOf, SpecStore } from "./spec-store.ts";
import { type Vote, type VotingBlock, VotingChain } from "./voting-chain.ts";

const VALIDATORS = 24;
/** Byzantine validators. With less than a third of the stake they cannot break finality. */
const FAITHLESS = 4;
const PTC_SIZE = 8;
const BOOST_PERCENT = 40;
/** Weights of all blocks are compared rarely, because the specification is slow. */
const STEPS_TO_WEIGHING = 16;
const BALANCES = Uint16Array.from({ length: VALIDATORS }, (_, index) => 32 + ((index * 5) % 7));

/**
 * Runs the node's fork choice and the specification's store through the same random history. All choices of a step
 * follow from a number, so that steps can be repeated.
 */
export class ModelRun {
  /** Log of the steps. */
  readonly story: string[] = [];
  readonly #happenings: Happenings;
  #steps = 0;
  readonly #gloasEpoch: number;
  readonly #chain: VotingChain;
  /** All blocks, known to the node or not. */
  readonly #made: VotingBlock[];
  /** Votes cast in this or the previous epoch. */
  #cast: Vote[] = [];
  /** Votes that reached the node outside blocks. */
  #heard: Vote[] = [];
  readonly #slashed = new Set<number>();
  /** Last vote of each honest validator; the next must not be slashable. */
  readonly #lastVotes = new Map<number, { source: number; target: number }>();
  #spec: SpecStore;
  #forkChoice: ForkChoice;
  #confirmation: ModelConfirmation;
  #choices = new RandomChoices(0);

  constructor(happenings: Happenings, gloasEpoch = Number.POSITIVE_INFINITY) {
    this.#happenings = happenings;
    this.#gloasEpoch = gloasEpoch;
    this.#chain = new VotingChain(BALANCES, EPOCH, gloasEpoch);
    this.#made = [this.#chain.genesis];
    const checkpoint = { epoch: 0, root: this.#chain.genesis.root };
    [this.#spec, this.#forkChoice] = this.#open(this.#chain.genesis, checkpoint, 0);
    this.#confirmation = this.#openConfirmation();
  }

  step(seed: number): void {
    this.#choices = new RandomChoices(seed);
    const act = this.#choices.weighted([
      [10, () => this.#tick(1)],
      [1, () => this.#tick(this.#choices.integer(2, 5))],
      [0.2, () => this.#tick(this.#choices.integer(EPOCH, 4 * EPOCH))],
      [0.5, () => this.#setClockBack()],
      [16, () => this.#makeBlock()],
      [3, () => this.#deliverBlock(this.#choices.pick(this.#made.slice(-12)))],
      [18, () => this.#castVotes()],
      [5, () => this.#castFaithlessVotes()],
      [4, () => this.#hear(this.#cast.slice(-8))],
      [this.#isGloas ? 12 : 0, () => this.#revealPayload()],
      [this.#isGloas ? 10 : 0, () => this.#voteOnPayload()],
      [0.5, () => this.#slash()],
      [2, () => this.#prune()],
      [0.5, () => this.#restart()],
    ]);
    const before = this.#forkChoice.headNode;
    const headBefore = before.root;
    act();
    this.#provideBalances();
    compareHeads(this.#forkChoice, this.#spec);
    this.#noteHead(before);
    if (this.#steps++ % STEPS_TO_WEIGHING === 0) compareWeights(this.#forkChoice, this.#spec);
    if (!this.#forkChoice.isDescendant(headBefore, this.#forkChoice.head.root)) this.#happenings.reorgs++;
  }

  #noteHead(before: ForkChoiceNode): void {
    const { root, payloadStatus } = this.#forkChoice.headNode;
    const { bid, parentRoot } = this.#forkChoice.head;
    if (bid === undefined) return;
    this.#happenings[payloadStatus === "full" ? "fullHeads" : "emptyHeads"]++;
    if (root === before.root && payloadStatus !== before.payloadStatus) this.#happenings.variantChanges++;
    const parent = this.#forkChoice.get(parentRoot);
    if (parent !== undefined && parent.bid === undefined) this.#happenings.crossings++;
    if (this.#spec.boostedRoot !== null && !this.#spec.shouldApplyProposerBoost()) this.#happenings.refusedBoosts++;
  }

  #tick(slots: number): void {
    const slot = this.#spec.currentSlot + slots;
    this.#tell(`It becomes slot ${slot}`);
    const finalized = this.#spec.finalized.epoch;
    const before = this.#forkChoice.headNode;
    while (this.#spec.currentSlot < slot) {
      this.#setClock(this.#spec.currentSlot + 1);
      this.#provideBalances();
      this.#forkChoice.updateHead();
      this.#confirmation.run();
    }
    const { root, payloadStatus } = this.#forkChoice.headNode;
    if (root === before.root && payloadStatus !== before.payloadStatus) this.#happenings.headsByTick++;
    if (this.#spec.finalized.epoch > finalized) this.#happenings.finalizations++;
    const oldestEpoch = this.#chain.epochOf(slot) - 1;
    this.#cast = this.#cast.filter(({ target }) => target.epoch >= oldestEpoch);
    this.#heard = this.#heard.filter(({ target }) => target.epoch >= oldestEpoch);
  }

  #setClock(slot: number): void {
    this.#spec.onTick(slot);
    this.#forkChoice.onTick(slot);
  }

  #setClockBack(): void {
    const slot = Math.max(0, this.#spec.currentSlot - this.#choices.integer(1, EPOCH));
    this.#tell(`The clock goes back to slot ${slot}, which nothing takes note of`);
    this.#forkChoice.onTick(slot);
  }

  /** A block, honest or not; most are imported at once. */
  #makeBlock(): void {
    const { currentSlot } = this.#spec;
    const parent = this.#pickBlock();
    const slots = this.#choices.chance(this.#isCalm() ? 0.9 : 0.6)
      ? 0
      : this.#choices.chance(0.1)
        ? -1
        : this.#choices.integer(1, EPOCH);
    const slot = Math.max(parent.slot + 1, currentSlot - slots);
    const carried = this.#isCalm() || this.#choices.chance(0.5) ? 0.95 : 0.3;
    const votes = this.#cast.filter(() => this.#choices.chance(carried));
    const slashed = this.#choices.chance(0.05) ? [...this.#slashed, this.#choices.integer(0, FAITHLESS - 1)] : [];
    const isParentFull = this.#choices.chance(this.#spec.payloads.has(parent.root) ? 0.7 : 0.1);
    const block = this.#chain.build(parent, slot, {
      votes,
      slashed,
      payloadAttestations: this.#choices.chance(0.5) ? [this.#payloadVotes(parent)] : [],
      // Blocks of one slot have one proposer in most cases.
      proposerIndex: (slot + (this.#choices.chance(0.2) ? 1 : 0)) % VALIDATORS,
      isParentFull,
    });
    this.#made.push(block);
    const on = `${block.bid ? (isParentFull ? "the full " : "the empty ") : ""}${name(parent.root)}`;
    this.#tell(`${name(block.root)} is made in slot ${slot} on ${on} with ${block.votes.length} votes`);
    if (this.#choices.chance(this.#isCalm() ? 0.95 : 0.7)) this.#deliverBlock(block);
  }

  #deliverBlock(block: VotingBlock): void {
    const timely = this.#choices.chance(0.6);
    const ptcTimely = timely || this.#choices.chance(0.6);
    this.#tell(`${name(block.root)} arrives ${timely ? "timely" : ptcTimely ? "late" : "very late"}`);
    const isNew = !this.#spec.blocks.has(block.root);
    const refusal = this.#takeBlock(block, timely, ptcTimely);
    if (refusal !== null) {
      this.#tell(`… and is refused: not so that ${refusal}`);
      this.#happenings.invalidBranchRoots++;
    } else if (isNew && this.#spec.boostedRoot === block.root) this.#happenings.boosts++;
  }

  /** The specification's objection to the block, if any; the node must agree. */
  #takeBlock(block: VotingBlock, timely: boolean, ptcTimely: boolean): string | null {
    const { finalized, currentSlot } = this.#spec;
    const isCurrent = block.slot === currentSlot;
    const isKnown = this.#spec.blocks.has(block.root);
    this.#provideBalances();
    const missing = assertionOf(() => this.#spec.onBlock(block, [timely, ptcTimely], [...block.payloadAttestations]));
    const arrival = { timely: isCurrent && timely, ptcTimely: isCurrent && ptcTimely };
    const committees = () => [membersAt(block.slot)];
    const refusal = refusalOf(() => this.#forkChoice.onBlock(block, { ...arrival, committees }));
    expect(refusal === null, refusal ?? `the node takes a block, not so that ${missing}`).toBe(missing === null);
    if (missing !== null || isKnown) return missing;
    this.#spec.onAttesterSlashing(block.slashed);
    for (const vote of block.votes) {
      if (assertionOf(() => this.#spec.onAttestation(vote, { isFromBlock: true })) !== null) {
        this.#happenings.refusedVotes++;
      }
    }
    for (const votes of block.payloadAttestations) this.#forkChoice.onPayloadAttestation(votes);
    applyBlockAttestations(this.#forkChoice, ...toBlockOperations(block));
    if (this.#spec.finalized.epoch > finalized.epoch) this.#happenings.finalizations++;
    return null;
  }

  /** Some honest validators vote, once per epoch and never slashably. */
  #castVotes(): void {
    const { currentSlot } = this.#spec;
    const slot = this.#choices.chance(0.85) ? currentSlot : Math.max(0, currentSlot - this.#choices.integer(1, EPOCH));
    const block = this.#pickBlock();
    if (block.slot > slot) return;
    const vote = { ...this.#chain.vote([], block, slot), index: this.#payloadIndex(block, slot) };
    const willing = Array.from({ length: VALIDATORS - FAITHLESS }, (_, index) => index + FAITHLESS).filter((index) => {
      const last = this.#lastVotes.get(index);
      return last === undefined || (last.target < vote.target.epoch && last.source <= vote.source.epoch);
    });
    const indices = willing.filter(() => this.#choices.chance(0.5));
    if (indices.length === 0) return;
    for (const index of indices) {
      this.#lastVotes.set(index, { source: vote.source.epoch, target: vote.target.epoch });
    }
    this.#publish({ ...vote, indices });
  }

  /** Byzantine validators vote repeatedly and arbitrarily. */
  #castFaithlessVotes(): void {
    const slot = Math.max(0, this.#spec.currentSlot + this.#choices.integer(-EPOCH, 1));
    const block = this.#choices.chance(0.5) ? this.#pickBlock() : this.#choices.pick(this.#made.slice(-30));
    const vote = this.#chain.vote(
      [this.#choices.integer(0, FAITHLESS - 1), this.#choices.integer(0, FAITHLESS - 1)],
      block,
      slot,
    );
    const target = this.#choices.chance(0.85)
      ? vote.target
      : { epoch: vote.target.epoch, root: this.#choices.pick(this.#made.slice(-30)).root };
    const index = this.#chain.isGloas(slot) && this.#choices.chance(0.5) ? 1 : 0;
    this.#publish({ ...vote, target, index });
  }

  /** The payload vote of an honest validator, which does not depend on the validator's view of the head here. */
  #payloadIndex(block: VotingBlock, slot: number): number {
    if (!this.#chain.isGloas(slot) || block.slot === slot) return 0;
    return this.#choices.chance(this.#spec.payloads.has(block.root) ? 0.7 : 0.1) ? 1 : 0;
  }

  /** Reveals the payload of a known block, often of the newest one. */
  #revealPayload(): void {
    const known = this.#made.slice(-8).filter(({ root, bid }) => bid && this.#spec.blocks.has(root));
    if (known.length === 0) return;
    const { root } = this.#choices.chance(0.6) ? known.at(-1)! : this.#choices.pick(known);
    this.#tell(`The payload of ${name(root)} arrives`);
    this.#addPayload(root, this.#choices.chance(0.8) ? "valid" : "optimistic");
  }

  #addPayload(root: string, status: "valid" | "optimistic"): void {
    this.#spec.onPayload(root);
    this.#forkChoice.onPayload(root, { status, blockNumber: 1 });
  }

  /** Members of the committee vote on the payload of a block of this slot, or in vain on that of another one. */
  #voteOnPayload(): void {
    const current = this.#made.filter(({ slot }) => slot === this.#spec.currentSlot);
    const block = this.#choices.pick(current.length > 0 && this.#choices.chance(0.9) ? current : this.#made.slice(-4));
    const votes = this.#payloadVotes(block);
    if (assertionOf(() => this.#spec.onPayloadAttestation(votes, { isFromBlock: false })) !== null) return;
    this.#tell(
      `Committee members ${[...votes.positions]} vote ${votes.payloadPresent} on the payload of ${name(block.root)}`,
    );
    this.#forkChoice.onPayloadAttestation(votes);
  }

  #payloadVotes({ root: blockRoot, slot }: VotingBlock): PayloadAttestationVotes {
    const isMajority = this.#choices.chance(0.6);
    const positions = Array.from({ length: PTC_SIZE }, (_, position) => position).filter(() =>
      this.#choices.chance(isMajority ? 0.8 : 0.3),
    );
    const payloadPresent = this.#choices.chance(0.5);
    const blobDataAvailable = this.#choices.chance(0.8) ? payloadPresent : !payloadPresent;
    return {
      positions,
      slot: this.#choices.chance(0.95) ? slot : slot + 1,
      blockRoot,
      payloadPresent,
      blobDataAvailable,
    };
  }

  #publish(vote: Vote): void {
    this.#cast.push(vote);
    this.#tell(
      `Validators ${vote.indices} vote in slot ${vote.slot} for ${name(vote.blockRoot)}, target ${name(vote.target.root)} of epoch ${vote.target.epoch}`,
    );
    if (this.#choices.chance(0.6)) this.#hear([vote]);
  }

  /** Delivers votes to the node. Votes that the specification rejects would not pass gossip validation. */
  #hear(votes: readonly Vote[]): void {
    for (const vote of votes) {
      const missing = assertionOf(() => this.#spec.onAttestation(vote, { isFromBlock: false }));
      if (missing !== null) {
        this.#happenings.refusedVotes++;
        continue;
      }
      const { indices, slot, target, blockRoot, index } = vote;
      const payloadPresent = index === 1;
      this.#forkChoice.onAttestation({ indices, slot, targetEpoch: target.epoch, blockRoot, payloadPresent });
      this.#heard.push(vote);
      this.#tell(`The vote of ${indices} in slot ${slot} for ${name(blockRoot)} is heard`);
    }
  }

  #slash(): void {
    const index = this.#choices.chance(0.9)
      ? this.#choices.integer(0, FAITHLESS - 1)
      : this.#choices.integer(0, VALIDATORS - 1);
    this.#tell(`Validator ${index} is seen to have voted twice`);
    this.#slashed.add(index);
    this.#spec.onAttesterSlashing([index]);
    this.#forkChoice.onAttesterSlashing([index]);
  }

  #prune(): void {
    this.#tell("What finality has passed is forgotten");
    this.#spec.prune();
    if (this.#forkChoice.prune().length > 0) this.#happenings.prunings++;
    expect(new Set(Array.from(this.#forkChoice.all(), ({ root }) => root))).toEqual(new Set(this.#spec.blocks.keys()));
  }

  /**
   * Restarts both from the finalized block with stored blocks, votes and slashings: time advances through the slots of
   * the blocks to the present, as in the node.
   */
  #restart(): void {
    const before = this.#spec;
    const passed = this.#choices.chance(0.7) ? 0 : this.#choices.integer(-EPOCH, 2 * EPOCH);
    const slot = Math.max(before.finalized.epoch * EPOCH, before.currentSlot + passed);
    this.#tell(`The node starts anew in slot ${slot}`);
    this.#happenings.restarts++;
    const { finalized } = before;
    [this.#spec, this.#forkChoice] = this.#open(this.#chain.get(finalized.root), finalized, finalized.epoch * EPOCH);

    const stored = Array.from(before.blocks.keys(), (root) => this.#chain.get(root));
    stored.sort((a, b) => a.slot - b.slot || (a.root < b.root ? -1 : 1));
    let dropped = 0;
    for (const block of stored) {
      this.#setClock(block.slot);
      if (this.#takeBlock(block, false, false) !== null) dropped++;
      else if (before.payloads.has(block.root)) this.#addPayload(block.root, "valid");
    }
    this.#setClock(slot);
    this.#spec.onAttesterSlashing(this.#slashed);
    this.#forkChoice.onAttesterSlashing(this.#slashed);
    this.#hear(this.#heard.splice(0));
    this.#provideBalances();
    this.#forkChoice.updateHead();
    this.#confirmation = this.#openConfirmation();
    if (dropped > 0) this.#happenings.dropped++;
    if (passed !== 0) return;
    expect([this.#spec.justified, this.#spec.finalized]).toEqual([before.justified, before.finalized]);
  }

  #open(anchor: VotingBlock, checkpoint: Checkpoint, currentSlot: number): [SpecStore, ForkChoice] {
    const balancesAt = (ofCheckpoint: Checkpoint) => this.#chain.balancesAt(ofCheckpoint);
    const { balances, totalActive, effectiveBalances } = balancesAt(checkpoint);
    const trusted = { ...anchor, justified: checkpoint, finalized: checkpoint };
    return [
      new SpecStore({
        anchor: trusted,
        checkpoint,
        currentSlot,
        slotsPerEpoch: EPOCH,
        boostPercent: BOOST_PERCENT,
        gloasEpoch: this.#gloasEpoch,
        ptcSize: PTC_SIZE,
        balancesAt,
        committeeMembers: (root) => membersAt(this.#chain.get(root).slot),
      }),
      ForkChoice.fromAnchor({
        config: {
          ...FORK_CHOICE_CONFIG,
          PROPOSER_SCORE_BOOST: BOOST_PERCENT,
          GLOAS_FORK_EPOCH: this.#gloasEpoch,
        },
        ptcSize: PTC_SIZE,
        anchor: trusted,
        checkpoint,
        currentSlot,
        slotsPerEpoch: EPOCH,
        balances,
        totalActiveBalance: totalActive,
        ...(effectiveBalances && { effectiveBalances }),
      }),
    ];
  }

  #openConfirmation(): ModelConfirmation {
    return new ModelConfirmation({
      spec: this.#spec,
      forkChoice: this.#forkChoice,
      chain: this.#chain,
      slotsPerEpoch: EPOCH,
      boostPercent: BOOST_PERCENT,
      membersAt,
      happenings: this.#happenings,
    });
  }

  #provideBalances(): void {
    const checkpoint = this.#forkChoice.needsBalances();
    if (checkpoint === null) return;
    const { balances, totalActive, effectiveBalances } = this.#chain.balancesAt(checkpoint);
    this.#forkChoice.setJustifiedBalances(checkpoint, balances, totalActive, effectiveBalances);
  }

  /** The head, or another recent or known block. */
  #pickBlock(): VotingBlock {
    if (this.#choices.chance(this.#isCalm() ? 0.97 : 0.5)) return this.#chain.get(this.#spec.getHead().root);
    if (this.#choices.chance(0.7)) return this.#choices.pick(this.#made.slice(-8));
    return this.#chain.get(this.#choices.pick([...this.#spec.blocks.keys()]));
  }

  get #isGloas(): boolean {
    return this.#chain.isGloas(this.#spec.currentSlot);
  }

  /** Alternates between periods with and without finality. */
  #isCalm(): boolean {
    return this.#chain.epochOf(this.#spec.currentSlot) % 9 < 6;
  }

  #tell(sentence: string): void {
    this.story.push(`${sentence}.`);
  }
}

/** Members of the committees of a slot, which are the same on all branches. */
const membersAt = (slot: number): number[] =>
  Array.from({ length: VALIDATORS }, (_, index) => index).filter((index) => index % EPOCH === slot % EPOCH);
