import type { RootHex } from "@lodestar/types";
import { expect } from "vitest";
import type { BalanceSource } from "../../../../src/chain/fork-choice/confirmation/balance-source.ts";
import { FastConfirmation } from "../../../../src/chain/fork-choice/confirmation/fast-confirmation.ts";
import type { ForkChoice } from "../../../../src/chain/fork-choice/fork-choice.ts";
import { buildsOnPayloadOf } from "../../../../src/chain/fork-choice/tree/proto-array.ts";
import type { Checkpoint } from "../../../../src/chain/fork-choice/types.ts";
import type { Happenings } from "./happenings.ts";
import { SpecFastConfirmation } from "./spec-fast-confirmation.ts";
import type { SpecStore } from "./spec-store.ts";
import type { VotingChain } from "./voting-chain.ts";

interface ModelConfirmationParts {
  spec: SpecStore;
  forkChoice: ForkChoice;
  chain: VotingChain;
  slotsPerEpoch: number;
  boostPercent: number;
  membersAt(slot: number): number[];
  happenings: Happenings;
}

/** Runs the node's fast confirmation rule and that of the specification, and compares them. */
export class ModelConfirmation {
  readonly #parts: ModelConfirmationParts;
  readonly #spec: SpecFastConfirmation;
  readonly #confirmation: FastConfirmation;

  constructor(parts: ModelConfirmationParts) {
    this.#parts = parts;
    const { spec, forkChoice, chain, slotsPerEpoch, boostPercent, membersAt } = parts;
    this.#spec = new SpecFastConfirmation(spec, {
      slotsPerEpoch,
      boostPercent,
      committee: membersAt,
      block: (root) => spec.blocks.get(root) ?? chain.get(root),
      checkpointState: (checkpoint) => chain.balancesAt(checkpoint),
      pulledUpState: (root, epoch) => chain.balancesAt(this.#pulledUp(root, epoch)),
      isValid: (root) => this.#isValid(root),
    });
    const config = { PROPOSER_SCORE_BOOST: boostPercent, CONFIRMATION_BYZANTINE_THRESHOLD: 25 };
    this.#confirmation = new FastConfirmation(forkChoice, config, slotsPerEpoch);
  }

  /** Call once in each slot, after the votes of past slots have been applied to the head. */
  run(): void {
    const { forkChoice, happenings, membersAt } = this.#parts;
    const spec = this.#spec;
    const before = spec.confirmedRoot;
    spec.onFastConfirmation();
    this.#confirmation.startSlot();
    this.#confirmation.confirm({
      previous: () => this.#sourceAt(this.#confirmation.variables.previousObservedJustified),
      current: () => this.#sourceAt(this.#confirmation.variables.currentObservedJustified),
      pulledUpHead: () => this.#sourceAt(this.#pulledUp(forkChoice.head.root, this.#currentEpoch)),
      committeesAt: (slot) => [membersAt(slot)],
    });
    const { previousSlotHead, currentSlotHead, slot: _, ...variables } = this.#confirmation.variables;
    expect({
      ...variables,
      previousSlotHead: previousSlotHead.root,
      currentSlotHead: currentSlotHead.root,
    }).toEqual({
      confirmedRoot: spec.confirmedRoot,
      previousObservedJustified: spec.previousEpochObservedJustifiedCheckpoint,
      currentObservedJustified: spec.currentEpochObservedJustifiedCheckpoint,
      greatestUnrealized: spec.previousEpochGreatestUnrealizedCheckpoint,
      previousSlotHead: spec.previousSlotHead,
      currentSlotHead: spec.currentSlotHead,
    });
    expect(forkChoice.safeRoot).toBe(spec.confirmedRoot);
    if (before === spec.confirmedRoot) return;
    const { chain } = this.#parts;
    if (chain.get(spec.confirmedRoot).slot > chain.get(before).slot) happenings.confirmations++;
    else happenings.lostConfirmations++;
  }

  #sourceAt(checkpoint: Checkpoint): BalanceSource {
    return { ...this.#parts.chain.balancesAt(checkpoint), isActive: () => true };
  }

  /** The checkpoint whose state is that of get_pulled_up_head_state: VotingChain finds the block's own if it is later. */
  #pulledUp(root: RootHex, epoch: number): Checkpoint {
    return { epoch, root };
  }

  get #currentEpoch(): number {
    return Math.floor(this.#parts.spec.currentSlot / this.#parts.slotsPerEpoch);
  }

  /** False if a payload on the block's chain has no verdict. */
  #isValid(root: RootHex): boolean {
    const { forkChoice } = this.#parts;
    let block = forkChoice.get(root);
    while (block !== undefined) {
      const parent = forkChoice.get(block.parentRoot);
      if (parent === undefined) return true;
      const isPayloadOnChain = parent.bid !== undefined && buildsOnPayloadOf(parent, block);
      if (isPayloadOnChain) return parent.execution.status === "valid";
      block = parent;
    }
    return false;
  }
}
