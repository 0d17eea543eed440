/** Limits concurrency. Excess callers wait in FIFO order. */
export class Semaphore {
  readonly #limit: number;
  #active = 0;
  #isDraining = false;
  readonly #queue = new Set<() => void>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get active(): number {
    return this.#active;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Calls `start` as soon as a slot is free. Returns a function that cancels the wait, or undefined if `start` was
   * called immediately.
   */
  acquire(start: () => void): (() => void) | undefined {
    if (this.tryAcquire()) {
      start();
      return undefined;
    }
    this.#queue.add(start);
    this.#drain();
    return () => this.#queue.delete(start);
  }

  /** Takes a slot if one is free. */
  tryAcquire(): boolean {
    if (this.#active >= this.#limit || this.#queue.size > 0) return false;
    this.#active++;
    return true;
  }

  /** Waits for a slot. Rejects with the signal's reason if the signal aborts first. */
  wait(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const leave = () => {
        cancel?.();
        reject(signal?.reason);
      };
      const cancel = this.acquire(() => {
        signal?.removeEventListener("abort", leave);
        resolve();
      });
      if (cancel) signal?.addEventListener("abort", leave, { once: true });
    });
  }

  /** Takes a slot even beyond the limit, for work that has already begun. */
  acquireNow(): void {
    this.#active++;
  }

  release(): void {
    this.#active--;
    this.#drain();
  }

  /** Not re-entrant: work that ends within `start` does not recurse. */
  #drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    for (const start of this.#queue) {
      if (this.#active >= this.#limit) break;
      this.#queue.delete(start);
      this.#active++;
      start();
    }
    this.#isDraining = false;
  }
}
