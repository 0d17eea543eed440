import type { RootHex } from "@lodestar/types";
import { ForkChoice } from "../../../../src/chain/fork-choice/fork-choice.ts";
import type { ForkChoiceAnchor } from "../../../../src/chain/fork-choice/fork-choice-anchor.ts";
import type { Checkpoint, ForkChoiceBlock, ForkChoiceExecution } from "../../../../src/chain/fork-choice/types.ts";

/** Slots per epoch of hand-built trees. */
export const EPOCH = 8;

/** Gloas is not scheduled. */
export const FORK_CHOICE_CONFIG: ForkChoiceAnchor["config"] = {
  PROPOSER_SCORE_BOOST: 40,
  REORG_HEAD_WEIGHT_THRESHOLD: 20,
  REORG_PARENT_WEIGHT_THRESHOLD: 160,
  GLOAS_FORK_EPOCH: Number.POSITIVE_INFINITY,
};

export const root = (id: number): RootHex => `0x${id.toString(16).padStart(64, "0")}`;

export const GENESIS: Checkpoint = { epoch: 0, root: root(1) };

export const optimistic = (id: number): ForkChoiceExecution => ({
  status: "optimistic",
  blockHash: root(id + 0xe000),
  blockNumber: id,
});

/** A block `id` on the block `parent` at the slot, with genesis checkpoints by default. */
export function makeBlock(
  id: number,
  parent: number,
  slot: number,
  rest: Partial<ForkChoiceBlock> = {},
): ForkChoiceBlock {
  return {
    slot,
    root: root(id),
    parentRoot: root(parent),
    stateRoot: root(id + 0x5000),
    targetRoot: root(1),
    justified: GENESIS,
    finalized: GENESIS,
    unrealizedJustified: rest.justified ?? GENESIS,
    unrealizedFinalized: rest.finalized ?? GENESIS,
    execution: { status: "pre-merge" },
    ...rest,
  };
}

/** Fork choice at slot 0 with genesis as block 1 and, by default, four validators of 32 ETH. */
export function makeForkChoice(options: Partial<ForkChoiceAnchor> = {}): ForkChoice {
  return ForkChoice.fromAnchor({
    config: FORK_CHOICE_CONFIG,
    currentSlot: 0,
    anchor: makeBlock(1, 0, 0),
    checkpoint: GENESIS,
    balances: new Uint16Array(4).fill(32),
    slotsPerEpoch: EPOCH,
    ...options,
  });
}

/** Imports the block too late for a boost, with the clock at its slot or later. */
export function addBlock(forkChoice: ForkChoice, ...args: Parameters<typeof makeBlock>): void {
  const block = makeBlock(...args);
  forkChoice.onTick(block.slot);
  forkChoice.onBlock(block, { timely: false });
}
