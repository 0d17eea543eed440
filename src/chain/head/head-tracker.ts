import { GENESIS_SLOT } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  getEffectiveBalanceIncrementsZeroInactive,
} from "@lodestar/state-transition";
import type { Slot } from "@lodestar/types";
import type { Logger } from "../../log/logger.ts";
import type { ChainEvents } from "../events.ts";
import { ForkChoiceError } from "../fork-choice/error.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { PayloadVerification } from "../fork-choice/payload-verification.ts";
import { type Checkpoint, type ForkChoiceBlock, type JustifiedBalances, sameCheckpoint } from "../fork-choice/types.ts";
import type { StateStore } from "../states/state-store.ts";

interface HeadTrackerParts {
  forkChoice: ForkChoice;
  states: StateStore;
  payloads: PayloadVerification;
  events: ChainEvents;
  logger: Logger;
}

export interface HeadSnapshot {
  head: ForkChoiceBlock;
  headState: CachedBeaconStateAllForks;
  justified: Checkpoint;
}

/** Tracks the head block and its state, and publishes head, reorg and justified checkpoint events. */
export class HeadTracker {
  readonly #parts: HeadTrackerParts;
  #head: ForkChoiceBlock;
  #headState: CachedBeaconStateAllForks;
  #justified: Checkpoint;
  #isLost = false;
  #balances: JustifiedBalances | undefined;

  constructor(parts: HeadTrackerParts, head: ForkChoiceBlock, headState: CachedBeaconStateAllForks) {
    this.#parts = parts;
    this.#head = head;
    this.#headState = headState;
    this.#justified = parts.forkChoice.justified;
  }

  get head(): ForkChoiceBlock {
    return this.#head;
  }

  get headState(): CachedBeaconStateAllForks {
    return this.#headState;
  }

  capture(): HeadSnapshot {
    return { head: this.#head, headState: this.#headState, justified: this.#justified };
  }

  /** Restores a snapshot after fork choice has been restored. Both chains are identical up to `forkSlot`. */
  restore({ head, headState, justified }: HeadSnapshot, forkSlot: Slot): void {
    const previous = this.#head;
    this.#head = head;
    this.#headState = headState;
    this.#justified = justified;
    this.#isLost = false;
    this.#parts.forkChoice.revision.raise();
    if (head.root !== previous.root) this.#announce(previous, forkSlot);
  }

  /** Recomputes the head. Calls must not overlap; the chain queues them. */
  async refresh(): Promise<void> {
    const { forkChoice, states, events } = this.#parts;
    const outdated = forkChoice.needsBalances();
    if (outdated) {
      const { balances, totalActive } = await this.#balancesAt(outdated);
      forkChoice.setJustifiedBalances(outdated, balances, totalActive);
    }
    const previous = this.#head;
    const head = this.#chosen();
    if (head.root !== previous.root) {
      this.#headState = await states.afterBlock(head.root);
      this.#head = head;
      forkChoice.revision.raise();
      forkChoice.revision.complete();
      this.#announce(previous, forkChoice.commonAncestor(previous.root, head.root)?.slot ?? GENESIS_SLOT);
    } else {
      this.#head = head;
      if (head !== previous) forkChoice.revision.raise();
      forkChoice.revision.complete();
      const isVerifiedNow = previous.execution.status === "optimistic" && head.execution.status === "valid";
      if (isVerifiedNow) events.publish("headVerified", { slot: head.slot, root: head.root });
    }
    if (!sameCheckpoint(this.#justified, forkChoice.justified)) {
      this.#justified = forkChoice.justified;
      events.publish("justified", this.#justified);
    }
  }

  /** Loads the balances of the checkpoint that will become justified in the next epoch. */
  async prepareBalances(): Promise<void> {
    const { justified, unrealizedJustified } = this.#parts.forkChoice;
    if (!sameCheckpoint(justified, unrealizedJustified)) await this.#balancesAt(unrealizedJustified);
  }

  /** Caches the latest result, because computing balances takes a pass over the validator registry. */
  async #balancesAt(checkpoint: Checkpoint): Promise<JustifiedBalances> {
    if (this.#balances && sameCheckpoint(this.#balances.checkpoint, checkpoint)) return this.#balances;
    const state = await this.#parts.states.atCheckpoint(checkpoint);
    const balances = getEffectiveBalanceIncrementsZeroInactive(state);
    this.#balances = { checkpoint, balances, totalActive: state.epochCtx.totalActiveBalanceIncrements };
    return this.#balances;
  }

  #announce(previous: ForkChoiceBlock, forkSlot: Slot): void {
    const { payloads, events, logger } = this.#parts;
    const head = this.#head;
    const executionOptimistic = payloads.isOptimistic(head);
    const depth = previous.slot - forkSlot;
    if (depth > 0) {
      logger.notice("Chain reorganised", { slot: head.slot, depth, oldHead: previous.root, newHead: head.root });
      events.publish("reorg", {
        slot: head.slot,
        depth,
        oldHead: previous.root,
        newHead: head.root,
        oldHeadState: previous.stateRoot,
        newHeadState: head.stateRoot,
        executionOptimistic,
      });
    }
    const epoch = computeEpochAtSlot(head.slot);
    const { epochCtx } = this.#headState;
    events.publish("head", {
      slot: head.slot,
      root: head.root,
      stateRoot: head.stateRoot,
      epochTransition: computeEpochAtSlot(previous.slot) < epoch,
      previousDutyDependentRoot: epochCtx.getShufflingDecisionRoot(epoch),
      currentDutyDependentRoot: epochCtx.getShufflingDecisionRoot(epoch + 1),
      executionOptimistic,
    });
  }

  /**
   * Returns fork choice's head. If the justified block is invalid, keeps the current head but marks it as unverified,
   * so that the node neither builds on it nor votes for it.
   */
  #chosen(): ForkChoiceBlock {
    const { forkChoice, logger } = this.#parts;
    try {
      const head = forkChoice.updateHead();
      this.#isLost = false;
      return head;
    } catch (error) {
      if (!(error instanceof ForkChoiceError && error.code === "justified-payload-invalid")) throw error;
      if (!this.#isLost) logger.error("No viable head; check the execution client", { error });
      this.#isLost = true;
      return forkChoice.get(this.#head.root) ?? this.#head;
    }
  }
}
