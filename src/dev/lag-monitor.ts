import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import type { Timers } from "../async/timers.ts";
import type { Clock } from "../chain/clock/clock.ts";
import type { ExecutionEngine } from "../execution/engine.ts";
import type { Logger } from "../log/logger.ts";

/** Smallest lag to report, in real time. */
const NOTABLE_LAG_SECONDS = 5;
/** Lag growth within an epoch that is attributed to timer jitter, as a fraction of a slot. */
const TOLERATED_GROWTH = 1 / 8;

interface LagMonitorDeps {
  clock: Pick<Clock, "nowSeconds" | "secondsPerSlot" | "speed">;
  timers: Pick<Timers, "now">;
  engine: Pick<ExecutionEngine, "waitedMs" | "buildsAtOnce">;
  logger: Logger;
}

/** Logs once when chain time falls behind the configured speed, and once when chain time has recovered. */
export class LagMonitor {
  readonly #parts: LagMonitorDeps;
  /** Reference point at which there is no lag. */
  #baseline: { chainSeconds: number; realMs: number };
  /** Measurements at the last slot. */
  #last: { lag: number; waitedMs: number };
  /** Part of the lag that was spent waiting for the execution engine. */
  #lagByEngine = 0;
  /** Last check of a lagging chain, which is checked once per epoch. */
  #lagging: { slot: Slot; lag: number } | undefined;

  constructor(parts: LagMonitorDeps) {
    this.#parts = parts;
    this.#baseline = this.#now();
    this.#last = { lag: 0, waitedMs: this.#waitedMs };
  }

  /** Restarts the measurement after a start, a pause or a speed change. */
  reset(): void {
    this.#lagging = undefined;
    this.#setBaseline();
  }

  onSlot(slot: Slot): void {
    const { clock, engine, logger } = this.#parts;
    const lag = this.#lagSeconds();
    this.#attribute(lag);
    if (this.#lagging === undefined) {
      // Negative after a suspension from which the clock has caught up.
      if (lag < 0) this.#setBaseline();
      if (lag < Math.max(clock.secondsPerSlot, NOTABLE_LAG_SECONDS * clock.speed)) return;
      this.#lagging = { slot, lag };
      const engineName = engine.buildsAtOnce ? "EVM" : "execution client";
      const cause = this.#lagByEngine > lag / 2 ? engineName : "machine";
      logger.warn("Chain time falls behind the configured speed", { ...this.#fields(slot, lag), cause });
    } else if (slot >= this.#lagging.slot + SLOTS_PER_EPOCH) {
      const hasGrown = lag > this.#lagging.lag + clock.secondsPerSlot * TOLERATED_GROWTH;
      this.#lagging = hasGrown ? { slot, lag } : undefined;
      if (hasGrown) return;
      this.#setBaseline();
      logger.notice("Chain time keeps the configured speed again", this.#fields(slot, lag));
    }
  }

  /** Attributes new lag to the execution engine, but no more than the time spent waiting for it. */
  #attribute(lag: number): void {
    const waitedMs = this.#waitedMs;
    const waited = ((waitedMs - this.#last.waitedMs) / 1000) * this.#parts.clock.speed;
    this.#lagByEngine += Math.max(0, Math.min(lag - this.#last.lag, waited));
    this.#last = { lag, waitedMs };
  }

  #setBaseline(): void {
    this.#baseline = this.#now();
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

  /** Returns the lag in chain time. */
  #lagSeconds(): number {
    const { chainSeconds, realMs } = this.#now();
    const passed = ((realMs - this.#baseline.realMs) / 1000) * this.#parts.clock.speed;
    return this.#baseline.chainSeconds + passed - chainSeconds;
  }
}
