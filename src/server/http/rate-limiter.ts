/** How many addresses are remembered; beyond that the ones that came first are forgotten, to their advantage. */
const MOST_ADDRESSES = 100_000;

/** Requests a second that one address may make; in one moment it may make as many as in a second. */
export class RateLimiter {
  readonly #perSecond: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, { left: number; at: number }>();

  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Undefined when the request may be made, or after how many seconds it may. */
  take(address: string): number | undefined {
    const now = this.#now();
    let bucket = this.#buckets.get(address);
    if (!bucket) {
      bucket = { left: this.#perSecond, at: now };
      this.#buckets.set(address, bucket);
      const [first] = this.#buckets.keys();
      if (this.#buckets.size > MOST_ADDRESSES && first !== undefined) this.#buckets.delete(first);
    }
    bucket.left = Math.min(this.#perSecond, bucket.left + ((now - bucket.at) / 1000) * this.#perSecond);
    bucket.at = now;
    if (bucket.left < 1) return Math.ceil((1 - bucket.left) / this.#perSecond);
    bucket.left--;
    return undefined;
  }
}
