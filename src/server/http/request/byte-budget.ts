/** Limits the memory that all clients use together. */
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

/** Estimated overhead of one buffered piece, such as a pending write, in addition to its bytes. */
export const PIECE_OVERHEAD_BYTES = 1024;

/** Reservations of one client in a shared budget. All of them are released when it disconnects. */
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

/** Smaller responses fit into the socket buffer; larger ones count against the budget until they are read. */
export const BUFFERED_FROM_BYTES = 64 * 1024;
