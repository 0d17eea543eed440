import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { computeEpochAtSlot, computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { Slot } from "@lodestar/types";
import { yieldToEventLoop } from "../../async/time-slice.ts";
import type { Logger } from "../../log/logger.ts";
import type { Clock } from "../clock/clock.ts";
import { timeInSlot, untilTimeInSlot } from "../clock/slot-timing.ts";
import type { ChainEvents } from "../events.ts";
import { hashInSlices } from "../states/hash-in-slices.ts";
import type { StateStore } from "../states/state-store.ts";
import { populateViewCaches } from "../states/view-caches.ts";
import type { HeadTracker } from "./head-tracker.ts";
import type { SyncStatus } from "./sync-status.ts";

/**
 * By then, the slot's block should have arrived, and aggregators, which act at 2/3 of the slot, should have been
 * served. Leaves 3 s of a 12 s slot, twice as long as an epoch transition takes with a million validators.
 */
const SHARE_OF_SLOT_TO_WAIT = 3 / 4;

interface EpochPreparerParts {
  clock: Clock;
  tracker: HeadTracker;
  states: StateStore;
  status: SyncStatus;
  events: ChainEvents;
  logger: Logger;
}

/**
 * Computes the first state of the next epoch before the epoch starts, so that block import, block production and duty
 * requests do not wait for the epoch transition. Computes it again if the head changes.
 */
export class EpochPreparer {
  readonly #parts: EpochPreparerParts;
  #stopping = new AbortController();

  constructor(parts: EpochPreparerParts) {
    this.#parts = parts;
  }

  /** Starts following the clock and the head. Returns a stop function. */
  start(): () => void {
    const { clock, events } = this.#parts;
    const ends = [
      clock.onSlot((slot) => (isLastOfEpoch(slot) ? this.#prepareInTime(slot) : undefined)),
      events.on("head", () => this.#onHead()),
    ];
    return () => {
      this.#stopping.abort();
      for (const end of ends) end();
    };
  }

  #onHead(): void {
    const { clock } = this.#parts;
    const { currentSlot } = clock;
    if (!isLastOfEpoch(currentSlot)) return;
    if (clock.nowSeconds() >= timeInSlot(clock, currentSlot, SHARE_OF_SLOT_TO_WAIT)) void this.#prepare();
  }

  async #prepareInTime(slot: Slot): Promise<void> {
    const { clock } = this.#parts;
    if (await untilTimeInSlot(clock, slot, SHARE_OF_SLOT_TO_WAIT, this.#stopping.signal)) await this.#prepare();
  }

  /** Never rejects. */
  async #prepare(): Promise<void> {
    const { clock, tracker, states, status, logger } = this.#parts;
    const epoch = computeEpochAtSlot(clock.currentSlot) + 1;
    const start = computeStartSlotAtEpoch(epoch);
    // The publisher of the head event must finish first.
    await yieldToEventLoop();
    const { root, slot } = tracker.head;
    const isNeeded = slot < start && !status.isSyncing && states.isNear(root, start) && !states.cached(root, start);
    if (!isNeeded || this.#stopping.signal.aborted) return;
    try {
      const state = await states.afterBlock(root, start);
      populateViewCaches(state);
      await hashInSlices(state.node);
      await tracker.prepareBalances();
      const secondsAhead = Number((clock.slotStartSeconds(start) - clock.nowSeconds()).toFixed(3));
      logger.debug("Prepared next epoch", { epoch, head: root, secondsAhead });
    } catch (error) {
      // Callers that need the state get the same error and report it.
      logger.debug("Failed to prepare next epoch", { epoch, head: root, error });
    }
  }
}

const isLastOfEpoch = (slot: Slot) => (slot + 1) % SLOTS_PER_EPOCH === 0;
