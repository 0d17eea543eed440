import type { Timers } from "./timers.ts";

interface BackoffLimits {
  firstMillis: number;
  maxMillis: number;
}

/** Exponential backoff: each delay is twice the previous one, up to a maximum. */
export class Backoff {
  readonly #limits: BackoffLimits;
  #nextMillis: number;

  constructor(limits: BackoffLimits) {
    this.#limits = limits;
    this.#nextMillis = limits.firstMillis;
  }

  /** Returns the delay before the next attempt. */
  next(): number {
    const millis = this.#nextMillis;
    this.#nextMillis = Math.min(2 * millis, this.#limits.maxMillis);
    return millis;
  }

  reset(): void {
    this.#nextMillis = this.#limits.firstMillis;
  }
}

interface ReconnectOptions extends BackoffLimits {
  /** Connection lifetime after which the backoff is reset. */
  stableMillis: number;
  timers: Pick<Timers, "now" | "sleep">;
  /** Ends the loop. */
  signal: AbortSignal;
}

/** Reconnects with backoff until aborted. `connect` resolves when the connection is lost or could not be opened. */
export async function reconnect(connect: () => Promise<void>, options: ReconnectOptions): Promise<void> {
  const { stableMillis, timers, signal } = options;
  const backoff = new Backoff(options);
  while (!signal.aborted) {
    const startedAt = timers.now();
    await connect();
    if (timers.now() - startedAt > stableMillis) backoff.reset();
    await timers.sleep(backoff.next(), signal).catch(() => {});
  }
}
