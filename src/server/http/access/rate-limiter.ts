import { SYSTEM_TIMERS, type Timers } from "../../../async/timers.ts";
import { type Rate, TokenBucket } from "../../../async/token-bucket.ts";

/** Maximum number of tracked addresses. The oldest ones are evicted first. */
const MAX_ADDRESSES = 100_000;

/** One token bucket per address. The burst equals the tokens of one second. */
export class RateLimiter {
  readonly #rate: Rate;
  readonly #timers: Pick<Timers, "now">;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(perSecond: number, timers: Pick<Timers, "now"> = SYSTEM_TIMERS) {
    this.#rate = { burst: perSecond, perSecond };
    this.#timers = timers;
  }

  /** Takes a token. Returns undefined on success, or otherwise the number of seconds until the next token. */
  take(address: string): number | undefined {
    let bucket = this.#buckets.get(address);
    if (!bucket) {
      bucket = new TokenBucket(this.#rate, this.#timers);
      this.#buckets.set(address, bucket);
      const [first] = this.#buckets.keys();
      if (this.#buckets.size > MAX_ADDRESSES && first !== undefined) this.#buckets.delete(first);
    }
    const delayMillis = bucket.delayFor(1);
    if (delayMillis > 0) return Math.ceil(delayMillis / 1000);
    bucket.take(1);
    return undefined;
  }
}
