/** One in this many reads may be hedged, and a burst after a quiet period. */
const READS_PER_HEDGE = 10;
const MAX_BURST = 20;

/** Limits hedged reads, so that overloaded upstreams do not get even more requests. */
export class HedgeBudget {
  #hedges = MAX_BURST;

  recordRead(): void {
    this.#hedges = Math.min(MAX_BURST, this.#hedges + 1 / READS_PER_HEDGE);
  }

  /** Returns false if the budget is exhausted. */
  take(): boolean {
    if (this.#hedges < 1) return false;
    this.#hedges--;
    return true;
  }
}
