import { SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeEpochShuffling,
  computeStartSlotAtEpoch,
  type EpochShuffling,
  getActiveValidatorIndices,
} from "@lodestar/state-transition";
import type { Logger } from "../../log/logger.ts";
import type { ChainEvents } from "../events.ts";
import type { ConfirmationConfig } from "../fork-choice/confirmation/adversarial-weight.ts";
import type { SlotCommittees } from "../fork-choice/confirmation/committee-members.ts";
import type { ConfirmationVariables } from "../fork-choice/confirmation/confirmation-variables.ts";
import { FastConfirmation } from "../fork-choice/confirmation/fast-confirmation.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { ChainSettings } from "../settings.ts";
import type { StateStore } from "../states/state-store.ts";
import { BalanceSources } from "./balance-sources.ts";
import type { HeadTracker } from "./head-tracker.ts";

interface ConfirmationTrackerParts {
  settings: Pick<ChainSettings, "fastConfirmation">;
  config: ConfirmationConfig;
  forkChoice: ForkChoice;
  tracker: HeadTracker;
  states: StateStore;
  events: ChainEvents;
  logger: Logger;
}

/** Runs the fast confirmation rule in each slot, unless it is turned off. */
export class ConfirmationTracker {
  readonly #parts: ConfirmationTrackerParts;
  readonly #confirmation: FastConfirmation | null;
  readonly #sources: BalanceSources;
  #isStarted = false;

  constructor(parts: ConfirmationTrackerParts) {
    const { settings, config, forkChoice, tracker } = parts;
    this.#parts = parts;
    this.#confirmation = settings.fastConfirmation ? new FastConfirmation(forkChoice, config, SLOTS_PER_EPOCH) : null;
    this.#sources = new BalanceSources(tracker);
  }

  /** Undefined if the rule is turned off. */
  capture(): ConfirmationVariables | undefined {
    return this.#confirmation?.variables;
  }

  restore(variables: ConfirmationVariables | undefined): void {
    if (variables === undefined) this.#confirmation?.reset();
    else this.#confirmation?.restore(variables);
  }

  /** Confirms blocks in a new slot, after the head has been updated. Must run in the queue of changes. */
  async onSlot(): Promise<void> {
    const { events, forkChoice, logger } = this.#parts;
    const confirmation = this.#confirmation;
    if (confirmation === null) return;
    // Blocks that were restored from the database may have finalized others.
    if (!this.#isStarted) confirmation.reset();
    this.#isStarted = true;
    try {
      const { root, slot } = await this.#confirm(confirmation);
      events.publish("fastConfirmation", { root, slot, currentSlot: forkChoice.currentSlot });
    } catch (error) {
      logger.warn("Fast confirmation failed", { error });
      confirmation.reset();
    }
  }

  async #confirm(confirmation: FastConfirmation) {
    const { currentSlot } = this.#parts.forkChoice;
    confirmation.startSlot();
    const { previousObservedJustified, currentObservedJustified } = confirmation.variables;
    const isEpochStart = currentSlot % SLOTS_PER_EPOCH === 0;
    // The previous one is in the cache still.
    const previous = isEpochStart ? await this.#sources.at(previousObservedJustified) : null;
    const current = await this.#sources.at(currentObservedJustified);
    const headState = await this.#pulledUpHeadState(currentSlot);
    return confirmation.confirm({
      previous: () => previous ?? current,
      current: () => current,
      pulledUpHead: () => this.#sources.ofHead(headState),
      committeesAt: committeesOf(headState),
    });
  }

  /**
   * get_pulled_up_head_state. The rule does not read it in the first slot of an epoch before its block, nor if the head
   * is older than the previous epoch.
   */
  async #pulledUpHeadState(currentSlot: number): Promise<CachedBeaconStateAllForks> {
    const { tracker, states } = this.#parts;
    const { head, headState } = tracker;
    const epoch = computeEpochAtSlot(currentSlot);
    const epochStart = computeStartSlotAtEpoch(epoch);
    if (currentSlot === epochStart || computeEpochAtSlot(head.slot) + 1 !== epoch) return headState;
    return headState.slot >= epochStart ? headState : states.afterBlock(head.root, epochStart);
  }
}

/** Computes a shuffling only if it is not in the state's cache, because it is of two epochs before. */
function committeesOf(state: CachedBeaconStateAllForks): SlotCommittees {
  const computed = new Map<number, EpochShuffling>();
  return (slot) => {
    const epoch = computeEpochAtSlot(slot);
    let shuffling = state.epochCtx.getShufflingAtEpochOrNull(epoch) ?? computed.get(epoch);
    if (shuffling === undefined) {
      shuffling = computeEpochShuffling(state, getActiveValidatorIndices(state, epoch), epoch);
      computed.set(epoch, shuffling);
    }
    return shuffling.committees[slot % SLOTS_PER_EPOCH] ?? [];
  };
}
