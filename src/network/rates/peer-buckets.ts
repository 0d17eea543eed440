import { type Now, type Rate, TokenBucket } from "./token-bucket.ts";

const SWEEP_AT_LEAST = 256;

/** A bucket for each peer and purpose. Those of peers long silent are full again and are forgotten, so their number stays bounded. */
export class PeerBuckets {
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #now: Now;
  #sweepAt = SWEEP_AT_LEAST;

  constructor(now: Now) {
    this.#now = now;
  }

  /** A purpose has the same rate each time. */
  bucket(peerId: string, purpose: string, rate: Rate): TokenBucket {
    const key = `${peerId}/${purpose}`;
    const known = this.#buckets.get(key);
    if (known !== undefined) return known;
    if (this.#buckets.size >= this.#sweepAt) this.#sweep();
    const bucket = new TokenBucket(rate, this.#now);
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
