import { PTC_SIZE, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { RootHex } from "@lodestar/types";
import type { BalanceSource } from "../../src/chain/fork-choice/confirmation/balance-source.ts";
import { FastConfirmation } from "../../src/chain/fork-choice/confirmation/fast-confirmation.ts";
import { ForkChoice } from "../../src/chain/fork-choice/fork-choice.ts";
import type { Checkpoint, ForkChoiceBlock } from "../../src/chain/fork-choice/types.ts";
import { FORK_CHOICE_CONFIG, GENESIS, makeBlock, root } from "../../test/support/chain/fork-choice/blocks.ts";

const ETHER = 32;
/** Every n-th slot has a rival block with a tenth of the votes. */
const SLOTS_PER_RIVAL = 8;

export interface SlotFigures {
  /** Position of the slot in its epoch. */
  slotOfEpoch: number;
  /** Time to record the votes of a slot. */
  recordMs: number;
  /** Time to select the head with the votes of a slot. */
  selectMs: number;
  /** Time to run the fast confirmation rule with the balances of head selection. */
  confirmMs: number;
  /** Time to run it with other balances, so that all votes are counted. */
  confirmAnewMs: number;
  /** Time to select the head with new balances of all validators. */
  recountMs: number;
}

/** Fork choice of a chain with a block in each slot, all of whose validators vote for it once per epoch. */
export class VotingChain {
  readonly #forkChoice: ForkChoice;
  readonly #confirmations: readonly FastConfirmation[];
  readonly #isGloas: boolean;
  readonly #committees: Uint32Array[];
  readonly #balances: Uint16Array;
  /** Balances of the last head selection. */
  #applied: Uint16Array;
  /** Checkpoint of each epoch. */
  readonly #checkpoints: Checkpoint[] = [GENESIS];
  #slot = 1;
  #nextId = 2;
  #head = 1;

  constructor(validators: number, { isGloas }: { isGloas: boolean }) {
    this.#isGloas = isGloas;
    this.#balances = new Uint16Array(validators).fill(ETHER);
    this.#applied = this.#balances;
    this.#committees = Array.from({ length: SLOTS_PER_EPOCH }, () => new Uint32Array(validators / SLOTS_PER_EPOCH));
    // Committees are spread over the registry, like shuffled ones.
    for (let index = 0; index < validators; index++) {
      this.#committees[index % SLOTS_PER_EPOCH]![Math.floor(index / SLOTS_PER_EPOCH)] = index;
    }
    this.#forkChoice = ForkChoice.fromAnchor({
      config: { ...FORK_CHOICE_CONFIG, GLOAS_FORK_EPOCH: isGloas ? 0 : Number.POSITIVE_INFINITY },
      currentSlot: 0,
      anchor: makeBlock(1, 0, 0, this.#executionOf(1, 0)),
      checkpoint: GENESIS,
      balances: this.#balances,
    });
    const config = { ...FORK_CHOICE_CONFIG, CONFIRMATION_BYZANTINE_THRESHOLD: 25 };
    this.#confirmations = [1, 2].map(() => new FastConfirmation(this.#forkChoice, config, SLOTS_PER_EPOCH));
  }

  /** Number of blocks in the tree. */
  get blocks(): number {
    return [...this.#forkChoice.all()].length;
  }

  /** Runs an epoch. Returns the figures of each slot. */
  runEpoch(): SlotFigures[] {
    return this.#committees.map((committee) => this.#runSlot(committee));
  }

  #runSlot(committee: Uint32Array): SlotFigures {
    const forkChoice = this.#forkChoice;
    forkChoice.onTick(this.#slot);
    const parent = this.#head;
    const block = this.#add(parent);
    const rival = this.#slot % SLOTS_PER_RIVAL === 0 ? this.#add(parent) : undefined;
    const rivalVotes = rival === undefined ? 0 : Math.floor(committee.length / 10);
    forkChoice.updateHead();
    const recordMs = timed(() => {
      this.#vote(block, committee.subarray(rivalVotes));
      if (rival !== undefined) this.#vote(rival, committee.subarray(0, rivalVotes));
      // Votes count from the next slot on.
      forkChoice.onTick(++this.#slot);
    });
    const selectMs = timed(() => forkChoice.updateHead());
    if (forkChoice.head.root !== root(block)) throw new Error("The head is not the block with most votes.");
    this.#head = block;
    const [confirmMs, confirmAnewMs] = [this.#applied, this.#balances].map((balances, index) => {
      return timed(() => this.#confirm(this.#confirmations[index]!, balances));
    }) as [number, number];
    this.#applied = this.#balances.slice();
    forkChoice.setJustifiedBalances(forkChoice.justified, this.#applied);
    const recountMs = timed(() => forkChoice.updateHead());
    const slotOfEpoch = this.#slot % SLOTS_PER_EPOCH;
    return { slotOfEpoch, recordMs, selectMs, confirmMs, confirmAnewMs, recountMs };
  }

  #confirm(confirmation: FastConfirmation, balances: Uint16Array): void {
    const totalActive = balances.length * ETHER;
    const source: BalanceSource = { balances, effectiveBalances: balances, totalActive, isActive: () => true };
    const committeesAt = (slot: number) => [this.#committees[(slot + SLOTS_PER_EPOCH - 1) % SLOTS_PER_EPOCH]!];
    confirmation.startSlot();
    const { slot } = confirmation.confirm({
      previous: () => source,
      current: () => source,
      pulledUpHead: () => source,
      committeesAt,
    });
    // A block with a rival is confirmed a slot later.
    if (this.#epoch > 2 && slot + 2 < this.#slot) throw new Error(`Slot ${slot} is confirmed in ${this.#slot}.`);
  }

  /** Adds a block of the current slot and, since gloas, its payload with the votes of the committee. */
  #add(parent: number): number {
    const id = this.#nextId++;
    const contents = { ...this.#executionOf(id, parent), ...this.#justification() };
    this.#checkpoints[this.#epoch] ??= { epoch: this.#epoch, root: root(id) };
    this.#forkChoice.onBlock(makeBlock(id, parent, this.#slot, contents), { timely: true });
    if (!this.#isGloas) return id;
    const blockRoot = root(id);
    this.#forkChoice.onPayload(blockRoot, { status: "valid", blockNumber: id });
    const positions = Array.from({ length: PTC_SIZE }, (_, position) => position);
    const votes = { payloadPresent: true, blobDataAvailable: true };
    this.#forkChoice.onPayloadAttestation({ positions, slot: this.#slot, blockRoot, ...votes });
    return id;
  }

  /** Every epoch is justified once two thirds of its votes are in blocks. */
  #justification(): Pick<ForkChoiceBlock, "justified" | "unrealizedJustified"> {
    const epoch = this.#epoch;
    const isJustified = (this.#slot % SLOTS_PER_EPOCH) * 3 > SLOTS_PER_EPOCH * 2;
    const previous = this.#checkpoints[Math.max(0, epoch - 1)]!;
    return {
      justified: previous,
      unrealizedJustified: isJustified ? (this.#checkpoints[epoch] ?? previous) : previous,
    };
  }

  #vote(id: number, indices: Uint32Array): void {
    this.#forkChoice.onAttestation({ indices, slot: this.#slot, targetEpoch: this.#epoch, blockRoot: root(id) });
  }

  get #epoch(): number {
    return Math.floor(this.#slot / SLOTS_PER_EPOCH);
  }

  #executionOf(id: number, parent: number): Pick<ForkChoiceBlock, "execution" | "bid"> {
    const hashOf = (each: number): RootHex => root(each + 0xe0_0000);
    if (!this.#isGloas) return { execution: { status: "valid", blockHash: hashOf(id), blockNumber: id } };
    const bid = { blockHash: hashOf(id), parentBlockHash: hashOf(parent) };
    return id === 1
      ? { execution: { status: "valid", blockHash: bid.blockHash, blockNumber: 0 }, bid }
      : { execution: { status: "absent" }, bid };
  }
}

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
