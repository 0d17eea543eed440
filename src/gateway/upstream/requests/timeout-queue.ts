import type { Timers } from "../../../async/timers.ts";

/** Accuracy. */
const TICK_MILLIS = 4;

export class Timeout {
  readonly at: number;
  readonly run: () => void;
  /** Position in the queue. Undefined once it has fired or been deleted. */
  index: number | undefined;

  constructor(at: number, run: () => void, index: number) {
    this.at = at;
    this.run = run;
    this.index = index;
  }
}

/**
 * Timeouts on one shared timer, because most are cancelled and separate timers cost more. Kept in an array: a `Set`
 * with constant churn rehashes often, and each discarded table retains its entries until the next full garbage
 * collection.
 */
export class TimeoutQueue {
  readonly #timers: Pick<Timers, "now" | "every">;
  /** Unordered. */
  readonly #timeouts: Timeout[] = [];
  #stopTicks: (() => void) | undefined;

  constructor(timers: Pick<Timers, "now" | "every">) {
    this.#timers = timers;
  }

  /** Adds a timeout. It must be removed with `delete` when it is no longer needed. */
  add(millis: number, run: () => void): Timeout {
    const timeout = new Timeout(this.#timers.now() + millis, run, this.#timeouts.length);
    this.#timeouts.push(timeout);
    this.#stopTicks ??= this.#timers.every(TICK_MILLIS, () => this.#tick());
    return timeout;
  }

  /** Moves the last timeout to the index of the deleted one. */
  delete(timeout: Timeout): void {
    const { index } = timeout;
    if (index === undefined) return;
    timeout.index = undefined;
    const last = this.#timeouts.pop()!;
    if (last === timeout) return;
    this.#timeouts[index] = last;
    last.index = index;
  }

  close(): void {
    for (const timeout of [...this.#timeouts]) this.delete(timeout);
    this.#tick();
  }

  #tick(): void {
    const now = this.#timers.now();
    for (const timeout of this.#timeouts.filter(({ at }) => at <= now)) {
      // A timeout that fires may delete others that are due.
      if (timeout.index === undefined) continue;
      this.delete(timeout);
      timeout.run();
    }
    if (this.#timeouts.length > 0) return;
    this.#stopTicks?.();
    this.#stopTicks = undefined;
  }
}
