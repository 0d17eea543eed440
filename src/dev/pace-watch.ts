import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import type { Timers } from "../async/timers.ts";
import type { Clock } from "../chain/clock/clock.ts";
import type { ExecutionEngine } from "../execution/engine.ts";
import type { Logger } from "../log/logger.ts";

/** In real time; what is less may be a hiccup. */
const NOTABLE_LAG_SECONDS = 5;
/** The part of a slot by which the jitter of timers may make a lag look larger than it was an epoch before. */
const TOLERATED_GROWTH = 1 / 8;

interface PaceWatchParts {
  clock: Pick<Clock, "nowSeconds" | "secondsPerSlot" | "speed">;
  timers: Pick<Timers, "now">;
  engine: Pick<ExecutionEngine, "waitedMs">;
  logger: Logger;
}

/** Says once that a running chain falls behind its timetable, and once that it keeps its pace again. */
export class PaceWatch {
  readonly #parts: PaceWatchParts;
  /** When the chain was last known not to lag. */
  #level: { chainSeconds: number; realMs: number };
  /** What was found at the last slot, and how much of the lag until then came while the execution engine was waited for. */
  #last: { lag: number; waitedMs: number };
  #lagByEngine = 0;
  /** Where the chain that lags was when that was last looked at. */
  #lagging: { slot: Slot; lag: number } | undefined;

  /** The chain begins to run just now. */
  constructor(parts: PaceWatchParts) {
    this.#parts = parts;
    this.#level = this.#now();
    this.#last = { lag: 0, waitedMs: this.#waitedMs };
  }

  /** The chain goes on from here, at whatever speed it has now; what it lagged before does not count. */
  begin(): void {
    this.#lagging = undefined;
    this.#setLevel();
  }

  onSlot(slot: Slot): void {
    const { clock, logger } = this.#parts;
    const lag = this.#lagSeconds();
    this.#attribute(lag);
    if (this.#lagging === undefined) {
      // A clock that keeps a timetable has made up for the time that the machine slept.
      if (lag < 0) this.#setLevel();
      if (lag < Math.max(clock.secondsPerSlot, NOTABLE_LAG_SECONDS * clock.speed)) return;
      this.#lagging = { slot, lag };
      const who = this.#lagByEngine > lag / 2 ? "The execution client" : "The machine";
      logger.warn(`${who} is too slow for the chain's speed, so chain time falls behind`, this.#fields(slot, lag));
    } else if (slot >= this.#lagging.slot + SLOTS_PER_EPOCH) {
      const hasGrown = lag > this.#lagging.lag + clock.secondsPerSlot * TOLERATED_GROWTH;
      this.#lagging = hasGrown ? { slot, lag } : undefined;
      if (hasGrown) return;
      this.#setLevel();
      logger.notice("The chain keeps its speed again", this.#fields(slot, lag));
    }
  }

  /** A slot that waits for the execution engine may have time to: only what it lags more for that is the engine's. */
  #attribute(lag: number): void {
    const waitedMs = this.#waitedMs;
    const waited = ((waitedMs - this.#last.waitedMs) / 1000) * this.#parts.clock.speed;
    this.#lagByEngine += Math.max(0, Math.min(lag - this.#last.lag, waited));
    this.#last = { lag, waitedMs };
  }

  #setLevel(): void {
    this.#level = this.#now();
    this.#last = { lag: 0, waitedMs: this.#waitedMs };
    this.#lagByEngine = 0;
  }

  get #waitedMs(): number {
    return this.#parts.engine.waitedMs?.() ?? 0;
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
