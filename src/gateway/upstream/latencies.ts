import type { Cost } from "../../server/method-table.ts";

/** How many of the last answers are kept, how many it takes to go by them, and after how many more at most the quantile is found anew. */
const KEPT = 256;
const ENOUGH = 32;
const RENEWED_AFTER = 128;

const SLOW_QUANTILE = 0.95;

/** How long the last answers took, by what they cost. */
export class Latencies {
  readonly #byCost = new Map<Cost, CostLatencies>();

  note(cost: Cost, millis: number): void {
    let latencies = this.#byCost.get(cost);
    if (latencies === undefined) {
      latencies = new CostLatencies();
      this.#byCost.set(cost, latencies);
    }
    latencies.note(millis);
  }

  /** The time that one in twenty exceeds; undefined while too few are known. */
  slow(cost: Cost): number | undefined {
    return this.#byCost.get(cost)?.slow;
  }
}

class CostLatencies {
  readonly #millis = new Float64Array(KEPT);
  #count = 0;
  #renewedAt = ENOUGH;
  #slow: number | undefined;

  get slow(): number | undefined {
    return this.#slow;
  }

  note(millis: number): void {
    this.#millis[this.#count++ % KEPT] = millis;
    if (this.#count < this.#renewedAt) return;
    this.#renewedAt += Math.min(this.#count, RENEWED_AFTER);
    const sorted = this.#millis.slice(0, Math.min(this.#count, KEPT)).sort();
    this.#slow = sorted[Math.ceil(sorted.length * SLOW_QUANTILE) - 1];
  }
}
