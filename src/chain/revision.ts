const HEAD = 0;
const STATUS = 1;
const EVM = 2;

/**
 * Version counters in shared memory that let other threads detect stale data. The first changes with the head and with
 * the fork choice data of blocks. The second also changes with the node's status: at a new slot, or when the engine
 * state or the sync state changes. The third changes with the data that EVM reads depend on.
 */
export class Revision {
  readonly memory = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT));
  /** Counts changes that EVM reads can observe. Most of them are counted by the EVM's thread. */
  readonly evm: Int32Array = this.memory.subarray(EVM);
  readonly #listeners = new Set<() => void>();
  /** True during a transaction, which defers publishing. */
  #isDeferred = false;
  #isHeadRaised = false;
  #isStatusRaised = false;

  /** Marks a change to the head or fork choice. Must be called synchronously after the change. */
  raise(): void {
    this.#isHeadRaised = true;
    this.raiseStatus();
  }

  /** Marks a change that affects only the node's status. */
  raiseStatus(): void {
    this.#isStatusRaised = true;
    if (!this.#isDeferred) this.publish();
  }

  /**
   * Runs a change as a transaction: other threads see the new versions only at its end, or when `complete` or `publish`
   * is called.
   */
  async transaction<T>(change: () => Promise<T>): Promise<T> {
    this.#isDeferred = true;
    try {
      return await change();
    } finally {
      this.complete();
    }
  }

  /** Ends the transaction. */
  complete(): void {
    this.#isDeferred = false;
    this.publish();
  }

  /** Publishes pending changes. Must be called before sending data derived from them to other threads. */
  publish(): void {
    if (!this.#isStatusRaised) return;
    if (this.#isHeadRaised) Atomics.add(this.memory, HEAD, 1);
    Atomics.add(this.memory, STATUS, 1);
    this.#isHeadRaised = false;
    this.#isStatusRaised = false;
    for (const listener of this.#listeners) listener();
  }

  /** Calls the listener after each publish, possibly inside a transaction. Returns an unsubscribe function. */
  onPublished(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
