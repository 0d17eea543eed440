import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { computeEpochAtSlot, computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { Slot } from "@lodestar/types";
import { yieldToEventLoop } from "../async/time-slice.ts";
import type { Logger } from "../log/logger.ts";
import type { Clock } from "./clock/clock.ts";
import { momentOfSlot, untilMomentOfSlot } from "./clock/moment-of-slot.ts";
import type { ChainEvents } from "./events.ts";
import type { HeadTracker } from "./head-tracker.ts";
import { denseCaches } from "./states/dense-caches.ts";
import { hashInTurns } from "./states/hash-in-turns.ts";
import type { StateStore } from "./states/state-store.ts";
import type { SyncStatus } from "./sync-status.ts";

/**
 * The block of the slot should be there by then, and aggregators have been answered, who ask when two thirds of it are over.
 * Of a slot of twelve seconds three are left, twice as long as an epoch transition takes with a million validators.
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
 * Makes the state with which the next epoch begins on the head before the epoch does, so that nobody waits for the epoch
 * transition: neither the first block of the epoch, nor its proposer, nor who asks for duties. A head that comes later is prepared for anew.
 */
export class EpochPreparer {
  readonly #parts: EpochPreparerParts;
  #stopping = new AbortController();

  constructor(parts: EpochPreparerParts) {
    this.#parts = parts;
  }

  /** Follows the clock and the head from now on; returns the function that ends it. */
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
    if (clock.nowSeconds() >= momentOfSlot(clock, currentSlot, SHARE_OF_SLOT_TO_WAIT)) void this.#prepare();
  }

  async #prepareInTime(slot: Slot): Promise<void> {
    const { clock } = this.#parts;
    if (await untilMomentOfSlot(clock, slot, SHARE_OF_SLOT_TO_WAIT, this.#stopping.signal)) await this.#prepare();
  }

  /** Never rejects. */
  async #prepare(): Promise<void> {
    const { clock, tracker, states, status, logger } = this.#parts;
    const epoch = computeEpochAtSlot(clock.currentSlot) + 1;
    const start = computeStartSlotAtEpoch(epoch);
    // Whoever told of a head has something to end first.
    await yieldToEventLoop();
    const { root, slot } = tracker.head;
    const isNeeded = slot < start && !status.isSyncing && states.isNear(root, start) && !states.held(root, start);
    if (!isNeeded || this.#stopping.signal.aborted) return;
    try {
      const state = await states.afterBlock(root, start);
      denseCaches(state);
      await hashInTurns(state.node);
      await tracker.prepareBalances();
      const secondsAhead = Number((clock.slotStartSeconds(start) - clock.nowSeconds()).toFixed(3));
      logger.debug("The next epoch is prepared", { epoch, head: root, secondsAhead });
    } catch (error) {
      // Whoever needs the state meets the same failure, and tells.
      logger.debug("The next epoch could not be prepared", { epoch, head: root, error });
    }
  }
}

const isLastOfEpoch = (slot: Slot) => (slot + 1) % SLOTS_PER_EPOCH === 0;
