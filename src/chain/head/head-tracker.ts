import { GENESIS_SLOT } from "@lodestar/params";
import { type CachedBeaconStateAllForks, computeEpochAtSlot } from "@lodestar/state-transition";
import type { Slot } from "@lodestar/types";
import type { Logger } from "../../log/logger.ts";
import type { ChainEvents, HeadEvent } from "../events.ts";
import { ForkChoiceError } from "../fork-choice/error.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { PayloadVerification } from "../fork-choice/payloads/payload-verification.ts";
import {
  type Checkpoint,
  type ForkChoiceBlock,
  type ForkChoiceNode,
  type PayloadStatus,
  sameCheckpoint,
} from "../fork-choice/types.ts";
import { lastRootBefore } from "../shuffling/dependent-root.ts";
import type { StateStore } from "../states/state-store.ts";
import { balancesOf, type StateBalances } from "./state-balances.ts";

interface HeadTrackerParts {
  forkChoice: ForkChoice;
  states: StateStore;
  payloads: PayloadVerification;
  events: ChainEvents;
  logger: Logger;
}

export interface HeadSnapshot {
  head: ForkChoiceBlock;
  payloadStatus: PayloadStatus;
  headState: CachedBeaconStateAllForks;
  justified: Checkpoint;
}

/** Tracks the head block and its state, and publishes head, reorg and justified checkpoint events. */
export class HeadTracker {
  readonly #parts: HeadTrackerParts;
  #head: ForkChoiceBlock;
  #payloadStatus: PayloadStatus;
  #headState: CachedBeaconStateAllForks;
  #justified: Checkpoint;
  #isLost = false;
  #balances: (StateBalances & { checkpoint: Checkpoint }) | undefined;

  constructor(parts: HeadTrackerParts, head: ForkChoiceBlock, headState: CachedBeaconStateAllForks) {
    this.#parts = parts;
    this.#head = head;
    this.#payloadStatus = parts.forkChoice.headNode.payloadStatus;
    this.#headState = headState;
    this.#justified = parts.forkChoice.justified;
  }

  get head(): ForkChoiceBlock {
    return this.#head;
  }

  /** Head block with its payload status: since gloas, whether the chain's newest payload is its own. */
  get headNode(): ForkChoiceNode {
    return { root: this.#head.root, payloadStatus: this.#payloadStatus };
  }

  get headState(): CachedBeaconStateAllForks {
    return this.#headState;
  }

  capture(): HeadSnapshot {
    return {
      head: this.#head,
      payloadStatus: this.#payloadStatus,
      headState: this.#headState,
      justified: this.#justified,
    };
  }

  /** Restores a snapshot after fork choice has been restored. Both chains are identical up to `forkSlot`. */
  restore({ head, payloadStatus, headState, justified }: HeadSnapshot, forkSlot: Slot): void {
    const previous = this.#head;
    const previousStatus = this.#payloadStatus;
    this.#head = head;
    this.#payloadStatus = payloadStatus;
    this.#headState = headState;
    this.#justified = justified;
    this.#isLost = false;
    this.#parts.forkChoice.revision.raise();
    if (head.root !== previous.root) this.#announce(previous, forkSlot);
    else if (payloadStatus !== previousStatus) this.#parts.events.publish("headPayload", this.#eventAfter(head));
  }

  /** Recomputes the head. Calls must not overlap; the chain queues them. */
  async refresh(): Promise<void> {
    const { forkChoice, states, events } = this.#parts;
    const outdated = forkChoice.needsBalances();
    if (outdated) {
      const { balances, totalActive, effectiveBalances } = await this.balancesAt(outdated);
      forkChoice.setJustifiedBalances(outdated, balances, totalActive, effectiveBalances);
    }
    const previous = this.#head;
    const previousStatus = this.#payloadStatus;
    const { head, payloadStatus } = this.#chosen();
    if (head.root !== previous.root) {
      this.#headState = await states.afterBlock(head.root);
      this.#head = head;
      this.#payloadStatus = payloadStatus;
      forkChoice.revision.raise();
      forkChoice.revision.complete();
      this.#announce(previous, forkChoice.commonAncestor(previous.root, head.root)?.slot ?? GENESIS_SLOT);
    } else {
      this.#head = head;
      this.#payloadStatus = payloadStatus;
      if (head !== previous || payloadStatus !== previousStatus) forkChoice.revision.raise();
      forkChoice.revision.complete();
      if (payloadStatus !== previousStatus) events.publish("headPayload", this.#eventAfter(head));
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
    if (!sameCheckpoint(justified, unrealizedJustified)) await this.balancesAt(unrealizedJustified);
  }

  /** Caches the latest result, because computing balances takes a pass over the validator registry. */
  async balancesAt(checkpoint: Checkpoint): Promise<StateBalances> {
    if (this.#balances && sameCheckpoint(this.#balances.checkpoint, checkpoint)) return this.#balances;
    this.#balances = { checkpoint, ...balancesOf(await this.#parts.states.atCheckpoint(checkpoint)) };
    return this.#balances;
  }

  #announce(previous: ForkChoiceBlock, forkSlot: Slot): void {
    const { events, logger } = this.#parts;
    const head = this.#head;
    const event = this.#eventAfter(previous);
    const { executionOptimistic } = event;
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
    events.publish("head", event);
  }

  #eventAfter(previous: ForkChoiceBlock): HeadEvent {
    const { slot, root, stateRoot } = this.#head;
    const epoch = computeEpochAtSlot(slot);
    const state = this.#headState;
    return {
      slot,
      root,
      stateRoot,
      payloadStatus: this.#payloadStatus === "full" ? "full" : "empty",
      epochTransition: computeEpochAtSlot(previous.slot) < epoch,
      // Not from the epoch cache: the state of an anchor can be epochs past its block.
      previousDutyDependentRoot: lastRootBefore(epoch - 1, state),
      currentDutyDependentRoot: lastRootBefore(epoch, state),
      executionOptimistic: this.#parts.payloads.isNodeOptimistic(this.headNode),
    };
  }

  /**
   * Returns fork choice's head. If the justified block is invalid, keeps the current head but marks it as unverified,
   * so that the node neither builds on it nor votes for it.
   */
  #chosen(): { head: ForkChoiceBlock; payloadStatus: PayloadStatus } {
    const { forkChoice, logger } = this.#parts;
    try {
      const head = forkChoice.updateHead();
      this.#isLost = false;
      return { head, payloadStatus: forkChoice.headNode.payloadStatus };
    } catch (error) {
      if (!(error instanceof ForkChoiceError && error.code === "justified-payload-invalid")) throw error;
      if (!this.#isLost) logger.error("No viable head; check the execution client", { error });
      this.#isLost = true;
      return { head: forkChoice.get(this.#head.root) ?? this.#head, payloadStatus: this.#payloadStatus };
    }
  }
}
