/** Limits concurrent requests to an upstream. Excess requests wait in FIFO order. */
export class ConcurrencyLimiter {
  readonly #limit: number;
  #active = 0;
  #isDraining = false;
  readonly #queue = new Set<() => void>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Calls `start` as soon as a slot is free. Returns a function that cancels the wait, or undefined if `start` was
   * called immediately.
   */
  acquire(start: () => void): (() => void) | undefined {
    if (this.#active < this.#limit && this.#queue.size === 0) {
      this.#active++;
      start();
      return undefined;
    }
    this.#queue.add(start);
    this.#drain();
    return () => this.#queue.delete(start);
  }

  /** Takes a slot even beyond the limit, for a request that has already been sent. */
  acquireNow(): void {
    this.#active++;
  }

  release(): void {
    this.#active--;
    this.#drain();
  }

  /** Not re-entrant: a request that ends within `start` does not recurse. */
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
