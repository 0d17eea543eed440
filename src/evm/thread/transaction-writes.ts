/** Drops a transaction from the pool. */
type Drop = (hash: Uint8Array) => Promise<unknown>;

/**
 * Writes of sent transactions to the database. The EVM's thread does not wait for them, but the main thread does before
 * it confirms a transaction.
 */
export class TransactionWrites {
  readonly #drop: Drop;
  readonly #pending = new Set<Promise<void>>();

  constructor(drop: Drop) {
    this.#drop = drop;
  }

  /** Adds a write. If it fails, the transaction leaves the pool. */
  add(hash: Uint8Array, writing: Promise<unknown>): void {
    const written = this.#finish(hash, writing).finally(() => this.#pending.delete(written));
    this.#pending.add(written);
    written.catch(() => undefined);
  }

  /** Resolves once all transactions sent so far are stored. Rejects if one could not be stored. */
  async done(): Promise<void> {
    await Promise.all(this.#pending);
  }

  async #finish(hash: Uint8Array, writing: Promise<unknown>): Promise<void> {
    try {
      await writing;
    } catch (cause) {
      await this.#drop(hash).catch(() => undefined);
      throw new Error("The transaction could not be stored.", { cause });
    }
  }
}
