/** Limits the total memory used for all clients. */
export class ByteBudget {
  readonly limit: number;
  #reserved = 0;
  #refused = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  get reserved(): number {
    return this.#reserved;
  }

  /** Number of reservations that were refused. */
  get refused(): number {
    return this.#refused;
  }

  /** Reserves bytes. Returns false if this would exceed the limit. */
  reserve(bytes: number): boolean {
    if (this.#reserved + bytes > this.limit) {
      this.#refused++;
      return false;
    }
    this.#reserved += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#reserved -= bytes;
  }
}

/** Estimated overhead of each buffered chunk, for example for a pending write. */
export const PIECE_OVERHEAD_BYTES = 1024;

/** One client's reservations in a shared budget. They are released when the client disconnects. */
export class BudgetReservation {
  readonly #budget: ByteBudget;
  #reserved = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** Reserves bytes. Returns false if this would exceed the budget. */
  reserve(bytes: number): boolean {
    if (!this.#budget.reserve(bytes)) return false;
    this.#reserved += bytes;
    return true;
  }

  release(bytes: number): void {
    const released = Math.min(bytes, this.#reserved);
    this.#reserved -= released;
    this.#budget.release(released);
  }

  releaseAll(): void {
    this.release(this.#reserved);
  }
}

/**
 * Responses smaller than this fit into the socket buffer. Larger ones count against the budget until the client has
 * read them.
 */
export const BUFFERED_FROM_BYTES = 64 * 1024;
