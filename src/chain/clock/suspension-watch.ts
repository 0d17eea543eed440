import { uptime } from "node:os";
import type { Timers } from "../../async/timers.ts";

const HEARTBEAT_MS = 1_000;
/** Shorter gaps may be caused by garbage collection or load. */
const SHORTEST_SUSPENSION_MS = 5_000;
/** If the process used more than this share of CPU time during the gap, it was busy, not suspended. */
const MAX_CPU_SHARE = 0.1;

/** Receives the length of the suspension in seconds. */
export type SuspensionListener = (seconds: number) => void;

/** Time sources: elapsed time that includes suspension, and CPU time that does not. */
export interface SuspensionTime {
  elapsedMs(): number;
  cpuMs(): number;
}

const SYSTEM_TIME: SuspensionTime = {
  // Unlike `performance.now()`, uptime includes time asleep.
  elapsedMs: () => uptime() * 1000,
  cpuMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

/** Timers that do not keep the process alive. */
const UNREF_TIMERS: Pick<Timers, "every"> = {
  every(ms, run) {
    const timer = setInterval(run, ms).unref();
    return () => clearInterval(timer);
  },
};

/** Detects from heartbeat gaps without CPU use that the process was stopped (SIGSTOP) or the machine was asleep. */
export class SuspensionWatch {
  readonly #time: SuspensionTime;
  readonly #listeners = new Set<SuspensionListener>();
  readonly #stop: () => void;
  #last: { elapsedMs: number; cpuMs: number };

  constructor(timers: Pick<Timers, "every"> = UNREF_TIMERS, time: SuspensionTime = SYSTEM_TIME) {
    this.#time = time;
    this.#last = this.#read();
    this.#stop = timers.every(HEARTBEAT_MS, () => this.check());
  }

  /** Returns an unsubscribe function. */
  onSuspended(listener: SuspensionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Notifies listeners immediately if the process was just resumed. Clocks call it before they announce a slot. */
  check(): void {
    const now = this.#read();
    const gapMs = now.elapsedMs - this.#last.elapsedMs - HEARTBEAT_MS;
    const cpuMs = now.cpuMs - this.#last.cpuMs;
    this.#last = now;
    if (gapMs < SHORTEST_SUSPENSION_MS || cpuMs > gapMs * MAX_CPU_SHARE) return;
    for (const listener of this.#listeners) listener(Math.round(gapMs / 1000));
  }

  close(): void {
    this.#stop();
  }

  #read() {
    return { elapsedMs: this.#time.elapsedMs(), cpuMs: this.#time.cpuMs() };
  }
}
