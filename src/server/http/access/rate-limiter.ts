/** Tracked addresses; the oldest are evicted first. */
const MAX_ADDRESSES = 100_000;

/** Token bucket per address, with a burst of one second. */
export class RateLimiter {
  readonly #perSecond: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, { left: number; at: number }>();

  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Takes a token. Returns undefined if there was one, otherwise the seconds until the next. */
  take(address: string): number | undefined {
    const now = this.#now();
    let bucket = this.#buckets.get(address);
    if (!bucket) {
      bucket = { left: this.#perSecond, at: now };
      this.#buckets.set(address, bucket);
      const [first] = this.#buckets.keys();
      if (this.#buckets.size > MAX_ADDRESSES && first !== undefined) this.#buckets.delete(first);
    }
    bucket.left = Math.min(this.#perSecond, bucket.left + ((now - bucket.at) / 1000) * this.#perSecond);
    bucket.at = now;
    if (bucket.left < 1) return Math.ceil((1 - bucket.left) / this.#perSecond);
    bucket.left--;
    return undefined;
  }
}
