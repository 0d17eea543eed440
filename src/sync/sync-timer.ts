import { setTimeout as sleep } from "node:timers/promises";

/** Real time, which passes at its own pace whatever the chain's clock does: peers and cables live in it. */
export interface SyncTimer {
  /** Milliseconds since some moment; never goes back. */
  now(): number;
  /** Rejects when the signal is aborted first. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const REAL_TIMER: SyncTimer = {
  now: () => performance.now(),
  sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal, ref: false }),
};
