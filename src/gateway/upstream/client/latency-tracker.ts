import type { CallCost } from "../../../server/method-table.ts";

/** Samples in the window, samples required for an estimate, and the maximum number of samples between two estimates. */
const WINDOW = 256;
const MIN_SAMPLES = 32;
const MAX_REFRESH_INTERVAL = 128;

const QUANTILE = 0.95;

/** Tracks response latency by method cost. */
export class LatencyTracker {
  readonly #windows = new Map<CallCost, LatencyWindow>();

  record(cost: CallCost, millis: number): void {
    let samples = this.#windows.get(cost);
    if (samples === undefined) {
      samples = new LatencyWindow();
      this.#windows.set(cost, samples);
    }
    samples.record(millis);
  }

  /** Returns the 95th percentile, or undefined while there are too few samples. */
  p95(cost: CallCost): number | undefined {
    return this.#windows.get(cost)?.p95;
  }
}

class LatencyWindow {
  readonly #millis = new Float64Array(WINDOW);
  #count = 0;
  #refreshAt = MIN_SAMPLES;
  #p95: number | undefined;

  get p95(): number | undefined {
    return this.#p95;
  }

  record(millis: number): void {
    this.#millis[this.#count++ % WINDOW] = millis;
    if (this.#count < this.#refreshAt) return;
    this.#refreshAt += Math.min(this.#count, MAX_REFRESH_INTERVAL);
    const sorted = this.#millis.slice(0, Math.min(this.#count, WINDOW)).sort();
    this.#p95 = sorted[Math.ceil(sorted.length * QUANTILE) - 1];
  }
}
