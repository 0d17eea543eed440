import type { Timers } from "../async/timers.ts";

/** So many at once, and so many a second on average. */
export interface Rate {
  burst: number;
  perSecond: number;
}

/** Counts what is used of a rate. More may be taken than there is: the debt is what the next one waits for. */
export class TokenBucket {
  readonly #rate: Rate;
  readonly #timers: Pick<Timers, "now">;
  #tokens: number;
  #countedAt: number;

  constructor(rate: Rate, timers: Pick<Timers, "now">) {
    this.#rate = rate;
    this.#timers = timers;
    this.#tokens = rate.burst;
    this.#countedAt = timers.now();
  }

  get isFull(): boolean {
    return this.#count() >= this.#rate.burst;
  }

  /** Milliseconds until so many could be taken without debt, or the whole burst where more is asked for. */
  delayFor(amount: number): number {
    const missing = Math.min(amount, this.#rate.burst) - this.#count();
    return missing <= 0 ? 0 : (missing * 1000) / this.#rate.perSecond;
  }

  /** Takes the tokens, and tells after how many milliseconds they may be used. */
  take(amount: number): number {
    const delay = this.delayFor(amount);
    this.#tokens -= amount;
    return delay;
  }

  #count(): number {
    const now = this.#timers.now();
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + ((now - this.#countedAt) * this.#rate.perSecond) / 1000);
    this.#countedAt = now;
    return this.#tokens;
  }
}

const SWEEP_AT_LEAST = 256;

/** A bucket for each peer and purpose. Those of peers long silent are full again and are forgotten, so their number stays bounded. */
export class PeerBuckets {
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #timers: Pick<Timers, "now">;
  #sweepAt = SWEEP_AT_LEAST;

  constructor(timers: Pick<Timers, "now">) {
    this.#timers = timers;
  }

  /** A purpose has the same rate each time. */
  bucket(peerId: string, purpose: string, rate: Rate): TokenBucket {
    const key = `${peerId}/${purpose}`;
    const known = this.#buckets.get(key);
    if (known !== undefined) return known;
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
