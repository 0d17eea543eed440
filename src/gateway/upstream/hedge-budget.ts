/** One in so many reads may be asked twice because the first upstream is slow, and some at once after a quiet time. */
const READS_PER_HEDGE = 10;
const MAX_AT_ONCE = 20;

/** Keeps upstreams that are slow because of too many questions from getting even more. */
export class HedgeBudget {
  #hedges = MAX_AT_ONCE;

  noteRead(): void {
    this.#hedges = Math.min(MAX_AT_ONCE, this.#hedges + 1 / READS_PER_HEDGE);
  }

  /** False when there is nothing left. */
  take(): boolean {
    if (this.#hedges < 1) return false;
    this.#hedges--;
    return true;
  }
}
