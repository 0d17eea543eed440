import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import { ControlError, LONGER_SLOTS, type TimeControl } from "../../api/dev-control.ts";
import { SerialQueue } from "../../async/serial-queue.ts";
import { TimeSlice } from "../../async/time-slice.ts";
import type { Timers } from "../../async/timers.ts";
import type { VirtualClock } from "../../chain/clock/virtual-clock.ts";
import type { Logger } from "../../log/logger.ts";
import { Progress } from "../../log/progress.ts";
import { MAX_EMPTY_EPOCHS } from "../constants.ts";

interface DevTimeParts {
  clock: VirtualClock;
  /** Error message if time can be neither moved nor paused; otherwise undefined. */
  fixedReason: string | undefined;
  headSlot(): Slot;
  /** Called when the clock is started or its speed changes. */
  onFlow(): void;
  /** Persists the clock's current slot. */
  storeSlot(slot: Slot): Promise<void>;
  logger: Logger;
  timers: Pick<Timers, "now">;
}

/** The slots covered by one control call. */
interface Passage {
  readonly progress: Progress;
  passed: Slot;
  /** Undefined if the end depends on a condition. */
  total?: Slot | undefined;
  describe?: (() => string) | undefined;
}

/** What triggered the current slot: the running clock, or a call that advances or skips slots. */
export type SlotTrigger = "flow" | "advance" | "skip";

/** Controls the time of a dev chain. Control calls run one at a time. */
export class DevTime implements TimeControl {
  readonly #parts: DevTimeParts;
  readonly #turns = new SerialQueue();
  #slotTrigger: SlotTrigger = "flow";
  #requestedFlow: boolean | undefined;
  #passage: Passage | undefined;

  constructor(parts: DevTimeParts) {
    this.#parts = parts;
  }

  /** Calls the listener at the start of each slot, with the trigger of the slot. */
  onSlot(listener: (slot: Slot, trigger: SlotTrigger) => Promise<void> | void): () => void {
    return this.#parts.clock.onSlot((slot) => listener(slot, this.#slotTrigger));
  }

  /** True if time can be neither moved nor paused. */
  get isFixed(): boolean {
    return this.#parts.fixedReason !== undefined;
  }

  /** The last request to pause (false) or resume (true). Undefined before the first request. */
  get requestedFlow(): boolean | undefined {
    return this.#requestedFlow;
  }

  /** Runs the work exclusively, after earlier control calls. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.run(work);
  }

  /**
   * Runs work exclusively while time is paused and the duties of the current slot are done. Rejects if time cannot be
   * paused. The work is told whether the clock was running.
   */
  whilePaused<T>(work: (wasFlowing: boolean) => Promise<T>): Promise<T> {
    return this.exclusive(async () => {
      const { clock, fixedReason, logger, onFlow, storeSlot, timers } = this.#parts;
      if (fixedReason !== undefined) throw ControlError.unsupported(fixedReason);
      const wasFlowing = clock.isFlowing;
      if (wasFlowing) clock.pause();
      await clock.advanceTo(clock.currentSlot);
      const from = clock.currentSlot;
      const progress = new Progress({ message: "Advancing on request", logger, timers });
      this.#passage = { progress, passed: 0 };
      try {
        return await work(wasFlowing);
      } finally {
        if (this.#passage.passed > 0) progress.finish({ slot: clock.currentSlot });
        this.#passage = undefined;
        if (clock.currentSlot !== from) await storeSlot(clock.currentSlot);
        if (wasFlowing) {
          clock.run();
          onFlow();
        }
      }
    });
  }

  advance(range: Parameters<TimeControl["advance"]>[0]): Promise<Slot> {
    return this.whilePaused(() => this.#advance(range));
  }

  skip(range: Parameters<TimeControl["skip"]>[0]): Promise<Slot> {
    return this.whilePaused(() => {
      this.#requireSkippable(range.slots);
      return this.#advance({ ...range, staysEmpty: () => true });
    });
  }

  pause(): Promise<void> {
    return this.#flow(false);
  }

  resume(): Promise<void> {
    return this.#flow(true);
  }

  setSpeed(speed: number): Promise<void> {
    return this.#flow(speed > 0, speed);
  }

  async #advance(range: Parameters<TimeControl["advance"]>[0]): Promise<Slot> {
    const { slots, until, describe, staysEmpty, signal } = range;
    const { clock } = this.#parts;
    Object.assign(this.#passage!, { total: describe ? undefined : slots, describe });
    const slice = new TimeSlice();
    let passed = 0;
    for (; passed < slots && signal?.aborted !== true && until?.() !== true; passed++) {
      await this.advanceSlot(staysEmpty?.(clock.currentSlot + 1) ? "skip" : "advance");
      // Slots without duties may run entirely in microtasks, but an abort needs a turn of the event loop to arrive.
      await slice.yieldIfDue();
    }
    return passed;
  }

  #requireSkippable(slots: number): void {
    const { clock, headSlot } = this.#parts;
    const maxSlots = Math.max(0, headSlot() + MAX_EMPTY_EPOCHS * SLOTS_PER_EPOCH - clock.currentSlot);
    if (slots <= maxSlots) return;
    throw ControlError.conflict(
      `At most ${maxSlots} more slots can be skipped before the next block: ` +
        `after ${MAX_EMPTY_EPOCHS} epochs without votes all validators may be ejected. ${LONGER_SLOTS}`,
    );
  }

  #flow(isFlowing: boolean, speed = 0): Promise<void> {
    return this.exclusive(async () => {
      const { clock, fixedReason, onFlow } = this.#parts;
      if (fixedReason !== undefined) throw ControlError.unsupported(fixedReason);
      this.#requestedFlow = isFlowing;
      if (clock.isFlowing) clock.pause();
      if (speed > 0) clock.setSpeed(speed);
      if (!isFlowing) return clock.advanceTo(clock.currentSlot);
      clock.run();
      onFlow();
    });
  }

  /**
   * Advances to the next slot and performs its duties, unless the slot is skipped. Must be called within `whilePaused`.
   */
  async advanceSlot(trigger: SlotTrigger = "advance"): Promise<void> {
    const { clock } = this.#parts;
    this.#slotTrigger = trigger;
    try {
      await clock.advanceTo(clock.currentSlot + 1);
    } finally {
      this.#slotTrigger = "flow";
    }
    this.#report();
  }

  #report(): void {
    if (!this.#passage) return;
    const { progress, total, describe } = this.#passage;
    const { currentSlot } = this.#parts.clock;
    progress.report(++this.#passage.passed, total, (slotsPerSecond) => ({
      slot: currentSlot,
      slotsPerSecond,
      detail: describe?.(),
    }));
  }
}
