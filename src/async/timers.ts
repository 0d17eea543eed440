import { setTimeout as sleep } from "node:timers/promises";

/** Real time for network I/O, independent of the chain's clock. Tests substitute fake timers. */
export interface Timers {
  /** Monotonic milliseconds with an arbitrary origin. */
  now(): number;
  /** Wall-clock Unix milliseconds. */
  unixNow(): number;
  /** Resolves after `ms`. Rejects if the signal aborts first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Runs a callback periodically. Returns a function that stops it. */
  every(ms: number, run: () => void): () => void;
}

export const SYSTEM_TIMERS: Timers = {
  now: () => performance.now(),
  unixNow: () => Date.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal, ref: false }),
  every(ms, run) {
    const timer = setInterval(run, ms);
    return () => clearInterval(timer);
  },
};
