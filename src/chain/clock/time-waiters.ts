import { ClockStoppedError } from "./clock.ts";

interface Waiter {
  dueAt: number;
  resolve: () => void;
  reject: (reason: unknown) => void;
}

/** Promises that resolve at a given chain time. The clock calls `release` as time advances. */
export class TimeWaiters {
  readonly #waiters = new Set<Waiter>();
  readonly #onChange: () => void;
  #stopped = false;

  /** `onChange` is called when a waiter is added or aborted, so that the owner can reschedule its timer. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Resolves at the chain time `dueAt`, in seconds. */
  wait(dueAt: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#stopped) return Promise.reject(new ClockStoppedError());
    return new Promise((resolve, reject) => {
      const forget = () => {
        this.#waiters.delete(waiter);
        signal?.removeEventListener("abort", onAbort);
      };
      const waiter: Waiter = {
        dueAt,
        resolve: () => {
          forget();
          resolve();
        },
        reject: (reason) => {
          forget();
          reject(reason);
        },
      };
      const onAbort = () => {
        waiter.reject(signal?.reason);
        this.#onChange();
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiters.add(waiter);
      this.#onChange();
    });
  }

  /** Returns the earliest due time, or Infinity. */
  nextDue(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { dueAt } of this.#waiters) next = Math.min(next, dueAt);
    return next;
  }

  /** Returns the number of waiters that are due at the given time. */
  countDueBy(seconds: number): number {
    let count = 0;
    for (const { dueAt } of this.#waiters) if (dueAt <= seconds) count++;
    return count;
  }

  /** Resolves the waiters that are due, in order of due time. */
  release(nowSeconds: number): void {
    const dueWaiters = [...this.#waiters].filter(({ dueAt }) => dueAt <= nowSeconds);
    for (const waiter of dueWaiters.sort((a, b) => a.dueAt - b.dueAt)) waiter.resolve();
  }

  /** Rejects all waiters with a `ClockStoppedError`. */
  stop(): void {
    this.#stopped = true;
    for (const waiter of [...this.#waiters]) waiter.reject(new ClockStoppedError());
  }
}
