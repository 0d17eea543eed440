import { readFileSync } from "node:fs";
import type { RootHex } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { selectHead } from "./head/head-selection.ts";
import { proposerBoostScore } from "./head/proposer-boost.ts";
import { markPayloadInvalid } from "./payloads/payload-status.ts";
import { NO_NODE, ProtoArray, voteTarget } from "./tree/proto-array.ts";
import { descentFromFinalized } from "./tree/viability.ts";
import type { Checkpoint, ForkChoiceBlock } from "./types.ts";
import { Votes } from "./votes/votes.ts";

interface FindHead {
  justified_checkpoint: Checkpoint;
  finalized_checkpoint: Checkpoint;
  justified_state_balances: number[];
}

type Operation =
  | ({ op: "FindHead"; expected_head: RootHex } & FindHead)
  | ({ op: "ProposerBoostFindHead"; expected_head: RootHex; proposer_boost_root: RootHex } & FindHead)
  | ({ op: "InvalidFindHead" } & FindHead)
  | {
      op: "ProcessBlock";
      slot: number;
      root: RootHex;
      parent_root: RootHex;
      justified_checkpoint: Checkpoint;
      finalized_checkpoint: Checkpoint;
    }
  | { op: "ProcessAttestation"; validator_index: number; block_root: RootHex; target_epoch: number }
  | { op: "Prune"; finalized_root: RootHex; prune_threshold: number; expected_len: number }
  | { op: "InvalidatePayload"; head_block_root: RootHex; latest_valid_ancestor_root: RootHex | null }
  | { op: "AssertWeight"; block_root: RootHex; weight: number };

interface Case {
  finalized_block_slot: number;
  justified_checkpoint: Checkpoint;
  finalized_checkpoint: Checkpoint;
  operations: Operation[];
}

const SLOTS_PER_EPOCH = 32;
const BOOST_PERCENT = 50;
const ZERO_ROOT = `0x${"00".repeat(32)}`;

/**
 * Runs operations on the internals of ForkChoice. The vectors move checkpoints freely, even backwards, and insert
 * blocks without a parent, which the specification's store never does.
 */
class Player {
  readonly tree = new ProtoArray();
  readonly votes = new Votes();

  constructor({ finalized_block_slot, justified_checkpoint, finalized_checkpoint }: Case) {
    this.tree.insert(
      optimisticBlock({
        slot: finalized_block_slot,
        root: finalized_checkpoint.root,
        parentRoot: "none",
        blockHash: ZERO_ROOT,
        justified: justified_checkpoint,
        finalized: finalized_checkpoint,
      }),
    );
  }

  play(operation: Operation): void {
    switch (operation.op) {
      case "FindHead":
        expect(this.#findHead(operation, null)).toBe(operation.expected_head);
        break;
      case "ProposerBoostFindHead":
        expect(this.#findHead(operation, operation.proposer_boost_root)).toBe(operation.expected_head);
        break;
      case "InvalidFindHead":
        expect(() => this.#findHead(operation, null)).toThrow();
        break;
      case "ProcessBlock":
        this.tree.insert(
          optimisticBlock({
            slot: operation.slot,
            root: operation.root,
            parentRoot: operation.parent_root,
            blockHash: operation.root,
            justified: operation.justified_checkpoint,
            finalized: operation.finalized_checkpoint,
          }),
        );
        break;
      case "ProcessAttestation":
        this.votes.record(
          operation.validator_index,
          voteTarget(this.#indexOf(operation.block_root), "pending"),
          operation.target_epoch * SLOTS_PER_EPOCH,
        );
        break;
      case "Prune":
        this.#prune(operation);
        break;
      case "InvalidatePayload":
        markPayloadInvalid(this.tree, this.#indexOf(operation.head_block_root), {
          latestValidHash: operation.latest_valid_ancestor_root,
          finalizedRoot: this.tree.nodeAt(0).block.root,
        });
        break;
      case "AssertWeight":
        expect(this.tree.nodeAt(this.#indexOf(operation.block_root)).weight).toBe(operation.weight);
        break;
    }
  }

  #indexOf(root: RootHex): number {
    const index = this.tree.indexOf(root);
    expect(index, `block ${root} is in the tree`).not.toBe(NO_NODE);
    return index;
  }

  #findHead(operation: FindHead, boostedRoot: RootHex | null): RootHex {
    const balances = Uint16Array.from(operation.justified_state_balances);
    const total = operation.justified_state_balances.reduce((sum, balance) => sum + balance, 0);
    this.tree.applyVoteDeltas(this.votes.takeDeltas(this.tree.size, balances));
    const head = selectHead(this.tree, {
      justified: operation.justified_checkpoint,
      finalized: operation.finalized_checkpoint,
      currentSlot: 0,
      slotsPerEpoch: SLOTS_PER_EPOCH,
      boostedNode: boostedRoot === null ? NO_NODE : this.#indexOf(boostedRoot),
      boostScore: proposerBoostScore(total, SLOTS_PER_EPOCH, BOOST_PERCENT),
      // The vectors have no notion of time, so no block is too early.
      totalActiveBalance: Number.NEGATIVE_INFINITY,
      shouldExtendPayload: () => false,
    });
    return this.tree.nodeAt(head).block.root;
  }

  /**
   * The vectors prune the blocks inserted before the finalized block once there are enough of them. ForkChoice also
   * prunes later blocks that do not descend from the finalized one, which the expected length takes into account.
   */
  #prune(operation: Extract<Operation, { op: "Prune" }>): void {
    const { finalized_root, prune_threshold, expected_len } = operation;
    const finalizedIndex = this.#indexOf(finalized_root);
    if (finalizedIndex < prune_threshold) {
      expect(this.tree.size).toBe(expected_len);
      return;
    }
    // All slots in the vectors precede the finalized epoch's first slot, so descent is determined by root alone.
    const keep = descentFromFinalized(this.tree, { epoch: -1, root: finalized_root }, SLOTS_PER_EPOCH);
    const removedAfterFinalized = keep.filter((flag, index) => flag === 0 && index > finalizedIndex).length;
    const { newIndexOf } = this.tree.prune(keep);
    this.votes.remap(newIndexOf);
    expect(this.tree.size + removedAfterFinalized).toBe(expected_len);
    expect(this.tree.nodeAt(0).block.root).toBe(finalized_root);
  }
}

function optimisticBlock(block: {
  slot: number;
  root: RootHex;
  parentRoot: RootHex;
  blockHash: RootHex;
  justified: Checkpoint;
  finalized: Checkpoint;
}): ForkChoiceBlock {
  const { blockHash, ...rest } = block;
  return {
    ...rest,
    stateRoot: ZERO_ROOT,
    targetRoot: ZERO_ROOT,
    unrealizedJustified: block.justified,
    unrealizedFinalized: block.finalized,
    execution: { status: "optimistic", blockHash, blockNumber: 0 },
  };
}

const fixture = new URL("../../../test/fixtures/fork-choice.json", import.meta.url);
const cases: Record<string, Case> = JSON.parse(readFileSync(fixture, "utf8"));

describe("fork choice vectors", () => {
  it("there are 193 operations in seven cases", () => {
    const counts = Object.values(cases).map(({ operations }) => operations.length);
    expect(counts).toHaveLength(7);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(193);
  });

  it.each(Object.entries(cases))("%s", (_, definition) => {
    const player = new Player(definition);
    definition.operations.forEach((operation, index) => {
      try {
        player.play(operation);
      } catch (cause) {
        throw new Error(`Operation ${index} (${operation.op}) did not hold: ${String(cause)}`, { cause });
      }
    });
  });
});
