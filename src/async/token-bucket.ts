import type { Timers } from "./timers.ts";

/** Allows `burst` at once and `perSecond` on average. */
export interface Rate {
  burst: number;
  perSecond: number;
}

/**
 * Token bucket that may go into debt: a request larger than the burst passes, and later requests wait until the debt is
 * paid off.
 */
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

  /** Returns the milliseconds until `amount` tokens (at most a full burst) are available without debt. */
  delayFor(amount: number): number {
    const missing = Math.min(amount, this.#rate.burst) - this.#count();
    return missing <= 0 ? 0 : (missing * 1000) / this.#rate.perSecond;
  }

  /** Takes the tokens. Returns the milliseconds until they may be used. */
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
