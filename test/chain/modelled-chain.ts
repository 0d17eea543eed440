import { EFFECTIVE_BALANCE_INCREMENT, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  DataAvailabilityStatus,
  ExecutionPayloadStatus,
  getAttesterSlashableIndices,
  isActiveValidator,
  processSlots,
  stateTransition,
} from "@lodestar/state-transition";
import type { Attestation, RootHex, SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect } from "vitest";
import type { BeaconChain } from "../../src/chain/chain.ts";
import type { Checkpoint, ForkChoiceBlock } from "../../src/chain/fork-choice/types.ts";
import { toCheckpoint } from "../../src/chain/import/fork-choice-import.ts";
import type { DevChain } from "../../src/dev/dev-chain.ts";
import type { DevNodeOptions } from "../../src/node/dev-node.ts";
import { ByHand, type HandMadeBlock } from "../support/chain/by-hand.ts";
import { type OpenedDevChain, openDevChain, QUIET } from "../support/chain/dev-chain.ts";
import {
  assertionOf,
  type CheckpointBalances,
  type SpecAttestation,
  SpecStore,
} from "../support/chain/fork-choice/spec-store.ts";
import { SignedOperations } from "../support/chain/signed-operations.ts";
import type { RandomChoices } from "../support/random/random-choices.ts";

interface ModelledBlock {
  root: RootHex;
  /** Null for genesis. */
  signed: SignedBeaconBlock | null;
  block: ForkChoiceBlock;
  /** Computed by the state transition, independently of the chain. */
  state: CachedBeaconStateAllForks;
}

/** Maximum number of slashed validators. The others suffice for finality. */
const MAX_SLASHED = 2;
const SLOT_SECONDS = 3;

/**
 * Runs random histories on a real chain with states, signatures and a database, and on the specification's store with
 * the same blocks, votes and slashings.
 */
export class ModelledChain {
  /** Log of all steps for failure messages. */
  readonly story: string[] = [];
  readonly #directory: string;
  readonly #options: Partial<DevNodeOptions>;
  readonly #choices: RandomChoices;
  readonly #made = new Map<RootHex, ModelledBlock>();
  readonly #balances = new Map<string, CheckpointBalances>();
  readonly #slashed = new Set<number>();
  #opened: OpenedDevChain;
  #spec: SpecStore;
  #isSlotLate = false;
  #marks = 0;

  static async open(
    directory: string,
    options: Partial<DevNodeOptions>,
    choices: RandomChoices,
  ): Promise<ModelledChain> {
    const allOptions = { ...QUIET, slotSeconds: SLOT_SECONDS, ...options };
    return new ModelledChain(directory, allOptions, choices, await openDevChain(allOptions, directory));
  }

  private constructor(
    directory: string,
    options: Partial<DevNodeOptions>,
    choices: RandomChoices,
    opened: OpenedDevChain,
  ) {
    this.#directory = directory;
    this.#options = options;
    this.#choices = choices;
    this.#opened = opened;
    const { head: anchor, headState: state } = this.#chain;
    this.#made.set(anchor.root, { root: anchor.root, signed: null, block: anchor, state });
    this.#spec = this.#newStore({ epoch: 0, root: anchor.root });
    this.#followClock();
  }

  async close(): Promise<void> {
    await this.#opened.close();
  }

  /** Runs a slot with its block and votes, or an exceptional event. */
  async step(): Promise<void> {
    await this.#choices.weighted<() => Promise<void>>([
      [24, () => this.#slot()],
      [0.5, () => this.#tick(this.#choices.integer(2, 2 * SLOTS_PER_EPOCH))],
      [3, () => this.#propose(this.#anyBlock())],
      [3, () => this.#vote(this.#anyBlock(), this.#chainSlot - this.#choices.integer(0, SLOTS_PER_EPOCH))],
      [2, () => this.#deliver(this.#choices.pick([...this.#made.values()].slice(-6)))],
      [0.5, () => this.#slash()],
      [1, () => this.#restart()],
    ])();
  }

  async #slot(): Promise<void> {
    await this.#tick(1);
    if (this.#choices.chance(0.9)) await this.#propose(this.#choices.chance(0.9) ? this.#headBlock : this.#anyBlock());
    if (this.#choices.chance(0.1)) await this.#propose(this.#headBlock);
    await this.#vote(this.#choices.chance(0.9) ? this.#headBlock : this.#anyBlock(), this.#chainSlot);
  }

  async #tick(slots: number): Promise<void> {
    const { clock } = this.#devChain;
    this.#isSlotLate = this.#choices.chance(0.2);
    const slot = clock.currentSlot + slots;
    this.#tell(`It becomes slot ${slot}, ${this.#isSlotLate ? "and late in it" : "which begins"}`);
    await clock.advanceTo(slot);
    this.#spec.onTick(slot);
    this.#compare();
  }

  /** Proposes a block, which is usually imported at once. */
  async #propose({ block: parent, state }: ModelledBlock): Promise<void> {
    const slot = this.#chainSlot;
    if (parent.slot >= slot || !this.#chain.forkChoice.has(parent.root)) return;
    const preState = processSlots(state, slot);
    // Slashed validators cannot propose.
    if (preState.validators.getReadonly(preState.epochCtx.getBeaconProposer(slot)).slashed) return;
    const byHand = new ByHand(this.#devChain);
    const made = byHand.sign(await byHand.produce(slot, parent.root, ++this.#marks % 256));
    const postState = stateTransition(state, made.signed, {
      verifyStateRoot: true,
      verifyProposer: false,
      verifySignatures: false,
      executionPayloadStatus: ExecutionPayloadStatus.valid,
      dataAvailabilityStatus: DataAvailabilityStatus.Available,
    });
    const modelled = { ...made, state: postState, block: toBlock(made, postState) };
    this.#made.set(made.root, modelled);
    const { attestations, attesterSlashings } = made.signed.message.body;
    this.#tell(
      `${name(made.root)} is made in slot ${slot} on ${name(parent.root)} with ${attestations.length} attestations and ${attesterSlashings.length} slashings`,
    );
    if (this.#choices.chance(0.9)) await this.#deliver(modelled);
  }

  async #deliver(modelled: ModelledBlock): Promise<void> {
    if (modelled.signed === null) return;
    const { clock } = this.#devChain;
    const timely = clock.nowSeconds() - clock.slotStartSeconds(clock.currentSlot) < clock.secondsPerSlot / 3;
    this.#tell(`${name(modelled.root)} arrives ${timely ? "timely" : "late"}`);
    const refusal = await this.#chain.importBlock(modelled.signed).then(
      () => null,
      (error: unknown) => String(error),
    );
    const missing = this.#takeBlock(modelled, timely);
    expect(refusal === null, refusal ?? `the chain accepts a block that violates: ${missing}`).toBe(missing === null);
    this.#compare();
  }

  /** Applies the block to the specification's store. Returns the violated assertion, if any. */
  #takeBlock({ block, signed, state }: ModelledBlock, timely: boolean): string | null {
    if (this.#spec.blocks.has(block.root)) return null;
    const missing = assertionOf(() => this.#spec.onBlock(block, [timely, timely]));
    if (missing !== null || signed === null) return missing;
    const { attestations, attesterSlashings } = signed.message.body;
    for (const slashing of attesterSlashings) this.#spec.onAttesterSlashing(getAttesterSlashableIndices(slashing));
    for (const attestation of attestations) {
      const vote = this.#toVote(attestation, state);
      assertionOf(() => this.#spec.onAttestation(vote, { isFromBlock: true }));
    }
    return null;
  }

  /** Attests to a block with the committees of the slot, even if it is not the head. */
  async #vote({ block }: ModelledBlock, slot: number): Promise<void> {
    if (slot < 0 || !this.#chain.forkChoice.has(block.root)) return;
    if (this.#chain.forkChoice.ancestorAtSlot(block.root, epochStart(slot)) === undefined) return;
    const votes = (await new ByHand(this.#devChain).attestationsFor(slot, block.root)).filter(() =>
      this.#choices.chance(0.95),
    );
    this.#tell(`Validators ${votes.map(({ validator }) => validator)} vote in slot ${slot} for ${name(block.root)}`);
    const outcomes = await this.#chain.processor.attestations(votes.map(({ attestation }) => attestation));
    for (const [position, { validator, attestation: vote }] of votes.entries()) {
      // Gossip rules are stricter than the fork choice specification, which must accept whatever passes them.
      if (!outcomes[position]!.ok) continue;
      const { beaconBlockRoot, target } = vote.data;
      this.#spec.onAttestation(
        { indices: [validator], slot, blockRoot: toRootHex(beaconBlockRoot), target: toCheckpoint(target) },
        { isFromBlock: false },
      );
    }
    this.#compare();
  }

  async #slash(): Promise<void> {
    const validator = this.#choices.integer(0, 15);
    if (this.#slashed.has(validator) || this.#slashed.size >= MAX_SLASHED) return;
    this.#slashed.add(validator);
    this.#tell(`Validator ${validator} is seen to have voted twice`);
    const operations = new SignedOperations(this.#devChain);
    const slashing = operations.doubleVote([validator], computeEpochAtSlot(this.#chainSlot));
    await this.#chain.processor.attesterSlashing(slashing);
    this.#spec.onAttesterSlashing([validator]);
    this.#compare();
  }

  /** Restarts the chain. The specification's store restarts from its finalized block, later blocks and pools. */
  async #restart(): Promise<void> {
    const before = this.#spec;
    const isCrash = this.#choices.chance(0.5);
    const slots = this.#choices.chance(0.7) ? 0 : this.#choices.integer(1, 2 * SLOTS_PER_EPOCH);
    await this.#opened.db.meta.putClockSlot(this.#chainSlot + slots);
    this.#tell(`The node ${isCrash ? "crashes" : "stops"} and starts again ${slots} slots later`);
    await (isCrash ? this.#opened.abandon() : this.#opened.close());
    this.#opened = await openDevChain(this.#options, this.#directory);
    this.#followClock();

    this.#spec = this.#newStore(before.finalized);
    const stored = [...before.blocks.keys()].map((root) => this.#made.get(root)!);
    stored.sort((a, b) => a.block.slot - b.block.slot || (a.root < b.root ? -1 : 1));
    for (const modelled of stored) {
      this.#spec.onTick(modelled.block.slot);
      this.#takeBlock(modelled, false);
    }
    this.#spec.onTick(this.#chainSlot);
    const { attestations, operations } = this.#chain.pools;
    for (const attestation of attestations.list()) {
      const { state } = this.#made.get(toRootHex(attestation.data.beaconBlockRoot))!;
      const vote = this.#toVote(attestation, processSlots(state, Math.max(state.slot, attestation.data.slot)));
      // Applied as if from a block, since it passed the time check before.
      assertionOf(() => this.#spec.onAttestation(vote, { isFromBlock: true }));
    }
    for (const slashing of operations.listAttesterSlashings()) {
      this.#spec.onAttesterSlashing(getAttesterSlashableIndices(slashing));
    }
    // The boost is stored at a stop, and ends with its slot.
    if (!isCrash && slots === 0) this.#spec.boostedRoot = before.boostedRoot;
    this.#compare();
  }

  #compare(): void {
    const { head, forkChoice } = this.#chain;
    this.#spec.prune();
    expect({
      head: head.root,
      justified: forkChoice.justified,
      finalized: forkChoice.finalized,
      boostedRoot: forkChoice.proposerBoostRoot,
    }).toEqual({
      head: this.#spec.getHead().root,
      justified: this.#spec.justified,
      finalized: this.#spec.finalized,
      boostedRoot: this.#spec.boostedRoot,
    });
    // Votes from before a crash may be for pruned blocks. Validators of the model also vote twice.
    const isExpected = (line: string) => /no longer fit the chain|Validator key is also used elsewhere/.test(line);
    expect(this.#opened.complaints.filter((line) => !isExpected(line))).toEqual([]);
  }

  #newStore(checkpoint: Checkpoint): SpecStore {
    const { block } = this.#made.get(checkpoint.root)!;
    return new SpecStore({
      anchor: { ...block, justified: checkpoint, finalized: checkpoint },
      checkpoint,
      currentSlot: computeStartSlotAtEpoch(checkpoint.epoch),
      slotsPerEpoch: SLOTS_PER_EPOCH,
      boostPercent: this.#devChain.config.PROPOSER_SCORE_BOOST,
      balancesAt: (ofCheckpoint) => this.#balancesAt(ofCheckpoint),
    });
  }

  #balancesAt({ epoch, root }: Checkpoint): CheckpointBalances {
    const key = `${epoch}/${root}`;
    let held = this.#balances.get(key);
    if (held === undefined) {
      const { state } = this.#made.get(root)!;
      const slot = computeStartSlotAtEpoch(epoch);
      const validators = (state.slot < slot ? processSlots(state, slot) : state).validators.getAllReadonly();
      const increments = validators.map((validator) =>
        isActiveValidator(validator, epoch) ? validator.effectiveBalance / EFFECTIVE_BALANCE_INCREMENT : 0,
      );
      held = {
        balances: Uint16Array.from(increments, (balance, index) => (validators[index]!.slashed ? 0 : balance)),
        totalActive: increments.reduce((total, balance) => total + balance, 0),
      };
      this.#balances.set(key, held);
    }
    return held;
  }

  #toVote(attestation: Attestation, state: CachedBeaconStateAllForks): SpecAttestation {
    const { slot, beaconBlockRoot, target } = attestation.data;
    const { attestingIndices } = state.epochCtx.getIndexedAttestation(
      this.#devChain.config.getForkSeq(slot),
      attestation,
    );
    return {
      indices: [...attestingIndices],
      slot,
      blockRoot: toRootHex(beaconBlockRoot),
      target: toCheckpoint(target),
    };
  }

  /** In late slots, waits beyond the attestation deadline at a third of the slot. */
  #followClock(): void {
    const { clock } = this.#devChain;
    clock.onSlot((slot) => (this.#isSlotLate ? clock.untilTime(clock.slotStartSeconds(slot) + 1) : undefined));
  }

  get #devChain(): DevChain {
    return this.#opened.devChain;
  }

  get #chain(): BeaconChain {
    return this.#opened.devChain.chain;
  }

  get #chainSlot(): number {
    return this.#devChain.clock.currentSlot;
  }

  get #headBlock(): ModelledBlock {
    return this.#made.get(this.#chain.head.root)!;
  }

  #anyBlock(): ModelledBlock {
    return this.#choices.pick([...this.#made.values()].slice(-8));
  }

  #tell(sentence: string): void {
    this.story.push(`${sentence}.`);
  }
}

const name = (root: RootHex): string => `block ${root.slice(0, 10)}`;

const epochStart = (slot: number): number => computeStartSlotAtEpoch(computeEpochAtSlot(slot));

/** Returns the block with its realized and unrealized checkpoints. */
function toBlock({ root, signed }: HandMadeBlock, state: CachedBeaconStateAllForks): ForkChoiceBlock {
  const { slot, parentRoot, stateRoot } = signed.message;
  const pulledUp = processSlots(state, computeStartSlotAtEpoch(computeEpochAtSlot(slot) + 1));
  return {
    slot,
    root,
    parentRoot: toRootHex(parentRoot),
    stateRoot: toRootHex(stateRoot),
    targetRoot: root,
    justified: toCheckpoint(state.currentJustifiedCheckpoint),
    finalized: toCheckpoint(state.finalizedCheckpoint),
    unrealizedJustified: toCheckpoint(pulledUp.currentJustifiedCheckpoint),
    unrealizedFinalized: toCheckpoint(pulledUp.finalizedCheckpoint),
    execution: { status: "pre-merge" },
  };
}
