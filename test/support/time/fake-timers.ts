import type { Timers } from "../../../src/async/timers.ts";

interface Interval {
  ms: number;
  dueAt: number;
  run: () => void;
}

const UNIX_START = 1_700_000_000_000;

/** Timers with a manual clock: time passes only in `advance`. */
export class FakeTimers implements Timers {
  #now = 1_000_000;
  readonly #intervals = new Set<Interval>();

  now(): number {
    return this.#now;
  }

  unixNow(): number {
    return UNIX_START + this.#now;
  }

  every(ms: number, run: () => void): () => void {
    const interval = { ms, dueAt: this.#now + ms, run };
    this.#intervals.add(interval);
    return () => this.#intervals.delete(interval);
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const end = this.every(ms, () => {
        end();
        resolve();
      });
      signal.addEventListener("abort", () => {
        end();
        reject(signal.reason);
      });
    });
  }

  /** Advances the clock, runs due timers in order, and flushes promises after each. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const [next] = [...this.#intervals].sort((a, b) => a.dueAt - b.dueAt);
      if (next === undefined || next.dueAt > end) break;
      this.#now = next.dueAt;
      next.dueAt += next.ms;
      next.run();
      await flushPromises();
    }
    this.#now = end;
    await flushPromises();
  }
}

/** Resolves after all pending promise callbacks have run. */
export function flushPromises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
