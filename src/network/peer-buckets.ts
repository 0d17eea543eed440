import type { Timers } from "../async/timers.ts";
import { type Rate, TokenBucket } from "../async/token-bucket.ts";

const SWEEP_AT_LEAST = 256;

/** Token buckets per peer and purpose. The buckets of idle peers fill up and are evicted, which bounds their number. */
export class PeerBuckets {
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #timers: Pick<Timers, "now">;
  #sweepAt = SWEEP_AT_LEAST;

  constructor(timers: Pick<Timers, "now">) {
    this.#timers = timers;
  }

  /** Returns a peer's bucket for a purpose. A purpose must always have the same rate. */
  bucket(peerId: string, purpose: string, rate: Rate): TokenBucket {
    const key = `${peerId}/${purpose}`;
    const existing = this.#buckets.get(key);
    if (existing !== undefined) return existing;
    if (this.#buckets.size >= this.#sweepAt) this.#sweep();
    const bucket = new TokenBucket(rate, this.#timers);
    this.#buckets.set(key, bucket);
    return bucket;
  }

  #sweep(): void {
    for (const [key, bucket] of this.#buckets) {
      if (bucket.isFull) this.#buckets.delete(key);
    }
    this.#sweepAt = Math.max(SWEEP_AT_LEAST, 2 * this.#buckets.size);
  }
}
