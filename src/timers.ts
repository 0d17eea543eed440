import { setTimeout as sleep } from "node:timers/promises";

/** Real time, which passes at its own pace whatever the chain's clock does: peers and cables live in it. A test drives its own. */
export interface Timers {
  /** Milliseconds that only ever rise, from whatever beginning. */
  now(): number;
  /** Unix milliseconds, as whoever sets the machine's clock has them. */
  unixNow(): number;
  /** Rejects when the signal is aborted first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Returns the function that ends it. */
  every(ms: number, run: () => void): () => void;
}

/** The time of the machine. */
export const SYSTEM_TIMERS: Timers = {
  now: () => performance.now(),
  unixNow: () => Date.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal, ref: false }),
  every(ms, run) {
    const timer = setInterval(run, ms);
    return () => clearInterval(timer);
  },
};
