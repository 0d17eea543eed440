const HEAD = 0;
const STATUS = 1;

/**
 * Two version counters in shared memory, with which other threads detect stale data. The first changes with the head
 * and with fork choice data of blocks. The second also changes with the node's status: at a new slot, and when engine
 * or sync state change.
 */
export class Revision {
  readonly memory = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  readonly #listeners = new Set<() => void>();
  /** Defers publishing until the end of a transaction. */
  #isHeldBack = false;
  #isHeadRaised = false;
  #isStatusRaised = false;

  /** Call it synchronously after the change. */
  raise(): void {
    this.#isHeadRaised = true;
    this.raiseStatus();
  }

  /** Marks a change of the node's status only. */
  raiseStatus(): void {
    this.#isStatusRaised = true;
    if (!this.#isHeldBack) this.publish();
  }

  /**
   * Runs a change as a transaction: other threads see the new versions at its end, or when `complete` or `publish` is
   * called.
   */
  async transaction<T>(change: () => Promise<T>): Promise<T> {
    this.#isHeldBack = true;
    try {
      return await change();
    } finally {
      this.complete();
    }
  }

  /** Ends the transaction. */
  complete(): void {
    this.#isHeldBack = false;
    this.publish();
  }

  /** Publishes pending changes. Call it before sending other threads anything derived from them. */
  publish(): void {
    if (!this.#isStatusRaised) return;
    if (this.#isHeadRaised) Atomics.add(this.memory, HEAD, 1);
    Atomics.add(this.memory, STATUS, 1);
    this.#isHeadRaised = false;
    this.#isStatusRaised = false;
    for (const listener of this.#listeners) listener();
  }

  /**
   * Calls the listener after each publish, possibly inside a transaction; returns a function that ends the
   * subscription.
   */
  onPublished(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
