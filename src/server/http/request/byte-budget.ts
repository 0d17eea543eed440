/** Limits the total memory of all clients. */
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

  /** Number of failed reservations. */
  get refused(): number {
    return this.#refused;
  }

  /** Returns false if the limit would be exceeded. */
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

/** Estimated overhead of a buffered chunk, such as a pending write. */
export const PIECE_OVERHEAD_BYTES = 1024;

/** Reservations of one client in a shared budget. They are released when the client disconnects. */
export class BudgetReservation {
  readonly #budget: ByteBudget;
  #reserved = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** Returns false if the budget would be exceeded. */
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
 * Smaller responses fit into the socket buffer; larger ones count against the budget until the client has read them.
 */
export const BUFFERED_FROM_BYTES = 64 * 1024;
