import type { RootHex } from "@lodestar/types";
import {
  type Checkpoint,
  type ForkChoiceBlock,
  type PayloadAttestationVotes,
  sameCheckpoint,
} from "../../../../src/chain/fork-choice/types.ts";
import type { CheckpointBalances, SpecAttestation } from "./spec-store.ts";

/** An attestation with its head, source and target votes. */
export interface Vote extends SpecAttestation {
  readonly source: Checkpoint;
}

export interface VotingBlock extends ForkChoiceBlock {
  readonly votes: readonly Vote[];
  /** Validators that this block proves to be equivocating. */
  readonly slashed: readonly number[];
  readonly payloadAttestations: readonly PayloadAttestationVotes[];
}

/** Contents of a block to build. */
interface BlockContents {
  votes: readonly Vote[];
  slashed: readonly number[];
  payloadAttestations: readonly PayloadAttestationVotes[];
  proposerIndex: number;
  /** Since gloas: whether the block builds on the payload of its parent. */
  isParentFull: boolean;
}

/** The part of a beacon state that depends on votes. */
interface VotingState {
  epoch: number;
  /** Validators with a correct target vote in the previous and current epoch. */
  previousVoters: ReadonlySet<number>;
  currentVoters: ReadonlySet<number>;
  /** justification_bits, newest epoch first. */
  bits: readonly boolean[];
  previousJustified: Checkpoint;
  justified: Checkpoint;
  finalized: Checkpoint;
  slashed: ReadonlySet<number>;
  balances: Uint16Array;
}

const NOBODY: ReadonlySet<number> = new Set();
/** Amount by which the balance of a non-voting validator decreases. */
const LARGEST_LOSS = 4;

/**
 * Blocks without signatures and bodies whose votes justify and finalize by phase0/beacon-chain.md. Yields realistic
 * checkpoints on branches much faster than beacon states.
 */
export class VotingChain {
  readonly genesis: VotingBlock;
  readonly #blocks = new Map<RootHex, VotingBlock>();
  readonly #states = new Map<RootHex, VotingState>();
  readonly #balancesAt = new Map<string, Required<CheckpointBalances>>();
  readonly #slotsPerEpoch: number;
  readonly #firstBalances: Uint16Array;
  readonly #gloasEpoch: number;

  constructor(balances: Uint16Array, slotsPerEpoch: number, gloasEpoch = Number.POSITIVE_INFINITY) {
    this.#slotsPerEpoch = slotsPerEpoch;
    this.#gloasEpoch = gloasEpoch;
    this.#firstBalances = balances;
    const root = this.#newRoot();
    const checkpoint = { epoch: 0, root };
    const state: VotingState = {
      epoch: 0,
      previousVoters: NOBODY,
      currentVoters: NOBODY,
      bits: [false, false, false, false],
      previousJustified: checkpoint,
      justified: checkpoint,
      finalized: checkpoint,
      slashed: NOBODY,
      balances,
    };
    const contents = { votes: [], slashed: [], payloadAttestations: [], proposerIndex: 0, isParentFull: false };
    this.genesis = this.#add({ root, parentRoot: `0x${"00".repeat(32)}`, slot: 0 }, contents, state);
  }

  get(root: RootHex): VotingBlock {
    const block = this.#blocks.get(root);
    if (block === undefined) throw new Error(`There is no block ${root}.`);
    return block;
  }

  /** A block with the votes that it may include. */
  build(parent: VotingBlock, slot: number, contents: BlockContents): VotingBlock {
    const state = { ...this.#stateAt(parent.root, slot) };
    const { slashed } = contents;
    const carried = contents.votes.filter((vote) => this.#mayCarry(state, vote, slot));
    const previousVoters = new Set(state.previousVoters);
    const currentVoters = new Set(state.currentVoters);
    for (const { target, indices } of carried) {
      if (target.root !== this.checkpointBlock(parent, target.epoch)) continue;
      const voters = target.epoch === state.epoch ? currentVoters : previousVoters;
      for (const index of indices) voters.add(index);
    }
    return this.#add(
      { root: this.#newRoot(), parentRoot: parent.root, slot },
      { ...contents, votes: carried },
      { ...state, previousVoters, currentVoters, slashed: new Set([...state.slashed, ...slashed]) },
    );
  }

  /** The vote of an honest validator with that head. */
  vote(indices: readonly number[], block: VotingBlock, slot: number): Vote {
    const epoch = this.epochOf(slot);
    const target = { epoch, root: this.checkpointBlock(block, epoch) };
    return { indices, slot, blockRoot: block.root, target, source: this.#stateAt(block.root, slot).justified };
  }

  balancesAt({ epoch, root }: Checkpoint): Required<CheckpointBalances> {
    const key = `${epoch}/${root}`;
    let held = this.#balancesAt.get(key);
    if (held === undefined) {
      const { balances, slashed } = this.#stateAt(root, epoch * this.#slotsPerEpoch);
      held = {
        balances: balances.map((balance, index) => (slashed.has(index) ? 0 : balance)),
        totalActive: sum(balances),
        effectiveBalances: balances,
      };
      this.#balancesAt.set(key, held);
    }
    return held;
  }

  checkpointBlock(block: VotingBlock, epoch: number): RootHex {
    let ancestor = block;
    while (ancestor.slot > epoch * this.#slotsPerEpoch) ancestor = this.get(ancestor.parentRoot);
    return ancestor.root;
  }

  epochOf(slot: number): number {
    return Math.floor(slot / this.#slotsPerEpoch);
  }

  isGloas(slot: number): boolean {
    return this.epochOf(slot) >= this.#gloasEpoch;
  }

  #add(
    made: Pick<VotingBlock, "root" | "parentRoot" | "slot">,
    { isParentFull, ...contents }: BlockContents,
    state: VotingState,
  ): VotingBlock {
    const pulledUp = this.#justify(state, made);
    const bid = this.isGloas(made.slot) ? { bid: this.#bid(made, isParentFull) } : {};
    const block: VotingBlock = {
      ...made,
      ...contents,
      ...bid,
      stateRoot: made.root,
      targetRoot: this.#rootAt(made, state.epoch),
      justified: state.justified,
      finalized: state.finalized,
      unrealizedJustified: pulledUp.justified,
      unrealizedFinalized: pulledUp.finalized,
      execution: { status: this.isGloas(made.slot) ? "absent" : "pre-merge" },
    };
    this.#blocks.set(block.root, block);
    this.#states.set(block.root, state);
    return block;
  }

  /** Every block has a payload of its own. Its hash is derived from the root. */
  #bid({ root, parentRoot }: Pick<VotingBlock, "root" | "parentRoot">, isParentFull: boolean) {
    const parent = this.#blocks.get(parentRoot);
    const emptyHash = parent?.bid?.parentBlockHash ?? parentRoot;
    return {
      blockHash: `${root}b`,
      parentBlockHash: isParentFull ? (parent?.bid?.blockHash ?? parentRoot) : emptyHash,
    };
  }

  /** The state of a block after all epoch transitions up to the slot. */
  #stateAt(root: RootHex, slot: number): VotingState {
    let state = this.#states.get(root)!;
    while (state.epoch < this.epochOf(slot)) {
      const { previousVoters, slashed } = state;
      state = {
        ...this.#justify(state, this.get(root)),
        epoch: state.epoch + 1,
        previousVoters: state.currentVoters,
        currentVoters: NOBODY,
        balances: state.balances.map((balance, index) => {
          const first = this.#firstBalances[index]!;
          const isPaid = previousVoters.has(index) && !slashed.has(index);
          return isPaid ? Math.min(balance + 1, first) : Math.max(balance - 1, first - LARGEST_LOSS);
        }),
      };
    }
    return state;
  }

  /** process_justification_and_finalization */
  #justify(state: VotingState, block: Pick<VotingBlock, "root" | "parentRoot" | "slot">): VotingState {
    const { epoch, previousJustified: oldPrevious, justified: oldCurrent, balances, slashed } = state;
    if (epoch <= 1) return state;
    const hasMajority = (voters: ReadonlySet<number>) => {
      let voting = 0;
      for (const index of voters) if (!slashed.has(index)) voting += balances[index]!;
      return voting * 3 >= sum(balances) * 2;
    };
    const bits = [false, ...state.bits.slice(0, 3)];
    let [justified, finalized] = [oldCurrent, state.finalized];
    if (hasMajority(state.previousVoters)) {
      justified = { epoch: epoch - 1, root: this.#rootAt(block, epoch - 1) };
      bits[1] = true;
    }
    if (hasMajority(state.currentVoters)) {
      justified = { epoch, root: this.#rootAt(block, epoch) };
      bits[0] = true;
    }
    const areJustified = (from: number, to: number) => bits.slice(from, to).every((bit) => bit);
    if (areJustified(1, 4) && oldPrevious.epoch + 3 === epoch) finalized = oldPrevious;
    if (areJustified(1, 3) && oldPrevious.epoch + 2 === epoch) finalized = oldPrevious;
    if (areJustified(0, 3) && oldCurrent.epoch + 2 === epoch) finalized = oldCurrent;
    if (areJustified(0, 2) && oldCurrent.epoch + 1 === epoch) finalized = oldCurrent;
    return { ...state, bits, previousJustified: oldCurrent, justified, finalized };
  }

  /** Conditions of process_attestation (phase0/beacon-chain.md); the vote may be for any block. */
  #mayCarry(state: VotingState, { slot, target, source }: Vote, blockSlot: number): boolean {
    if (slot >= blockSlot || target.epoch !== this.epochOf(slot) || target.epoch < state.epoch - 1) return false;
    return sameCheckpoint(source, target.epoch === state.epoch ? state.justified : state.previousJustified);
  }

  #rootAt(block: Pick<VotingBlock, "root" | "parentRoot" | "slot">, epoch: number): RootHex {
    if (block.slot <= epoch * this.#slotsPerEpoch) return block.root;
    return this.checkpointBlock(this.get(block.parentRoot), epoch);
  }

  /** Scattered roots, so that ties do not always favour the younger block. */
  #newRoot(): RootHex {
    const id = this.#blocks.size + 1;
    const scattered = Math.imul(id, 0x9e3779b1) >>> 0;
    return `0x${scattered.toString(16).padStart(8, "0")}${id.toString(16).padStart(56, "0")}`;
  }
}

const sum = (balances: Uint16Array): number => balances.reduce((total, balance) => total + balance, 0);
