import type { Timers } from "./timers.ts";

interface Repetition {
  ms: number;
  dueAt: number;
  run: () => void;
}

const UNIX_START = 1_700_000_000_000;

/** Time that passes when the test says so. */
export class HandTimers implements Timers {
  #now = 1_000_000;
  readonly #repetitions = new Set<Repetition>();

  now(): number {
    return this.#now;
  }

  unixNow(): number {
    return UNIX_START + this.#now;
  }

  every(ms: number, run: () => void): () => void {
    const repetition = { ms, dueAt: this.#now + ms, run };
    this.#repetitions.add(repetition);
    return () => this.#repetitions.delete(repetition);
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

  /** Runs what falls due meanwhile, in order. What that leads to later has had its turn when this resolves. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const [next] = [...this.#repetitions].sort((a, b) => a.dueAt - b.dueAt);
      if (next === undefined || next.dueAt > end) break;
      this.#now = next.dueAt;
      next.dueAt += next.ms;
      next.run();
      await settled();
    }
    this.#now = end;
    await settled();
  }
}

/** Lets everything that waits for nothing but its turn go on. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
