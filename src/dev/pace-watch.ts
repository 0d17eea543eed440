import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import type { Clock } from "../chain/clock/clock.ts";
import type { Logger } from "../log/logger.ts";
import type { Timers } from "../timers.ts";

/** In real time; what is less may be a hiccup. */
const NOTABLE_LAG_SECONDS = 5;
/** The part of a slot by which the jitter of timers may make a lag look larger than it was an epoch before. */
const TOLERATED_GROWTH = 1 / 8;

interface PaceWatchParts {
  clock: Pick<Clock, "nowSeconds" | "secondsPerSlot" | "speed">;
  timers: Pick<Timers, "now">;
  logger: Logger;
}

/** Says once that a running chain falls behind its timetable, and once that it keeps its pace again. */
export class PaceWatch {
  readonly #parts: PaceWatchParts;
  /** When the chain was last known not to lag. */
  #level: { chainSeconds: number; realMs: number };
  /** Where the chain that lags was when that was last looked at. */
  #lagging: { slot: Slot; lag: number } | undefined;

  /** The chain begins to run just now. */
  constructor(parts: PaceWatchParts) {
    this.#parts = parts;
    this.#level = this.#now();
  }

  onSlot(slot: Slot): void {
    const { clock, logger } = this.#parts;
    const lag = this.#lagSeconds();
    if (this.#lagging === undefined) {
      // A clock that keeps a timetable has made up for the time that the machine slept.
      if (lag < 0) this.#level = this.#now();
      if (lag < Math.max(clock.secondsPerSlot, NOTABLE_LAG_SECONDS * clock.speed)) return;
      this.#lagging = { slot, lag };
      logger.warn("The machine is too slow for the chain's speed, so chain time falls behind", this.#fields(slot, lag));
    } else if (slot >= this.#lagging.slot + SLOTS_PER_EPOCH) {
      const hasGrown = lag > this.#lagging.lag + clock.secondsPerSlot * TOLERATED_GROWTH;
      this.#lagging = hasGrown ? { slot, lag } : undefined;
      if (hasGrown) return;
      this.#level = this.#now();
      logger.notice("The chain keeps its speed again", this.#fields(slot, lag));
    }
  }

  #fields(slot: Slot, lag: number) {
    return { slot, speed: this.#parts.clock.speed, lagSeconds: Math.round(lag) };
  }

  #now() {
    const { clock, timers } = this.#parts;
    return { chainSeconds: clock.nowSeconds(), realMs: timers.now() };
  }

  /** In chain time. */
  #lagSeconds(): number {
    const { chainSeconds, realMs } = this.#now();
    const passed = ((realMs - this.#level.realMs) / 1000) * this.#parts.clock.speed;
    return this.#level.chainSeconds + passed - chainSeconds;
  }
}
