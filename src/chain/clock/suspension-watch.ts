import { uptime } from "node:os";
import type { Timers } from "../../async/timers.ts";

const HEARTBEAT_MS = 1_000;
/** A shorter gap may be garbage collection or a busy machine. */
const SHORTEST_SUSPENSION_MS = 5_000;
/** A process that used more of the gap than this was busy, not suspended. */
const MAX_CPU_SHARE = 0.1;

/** Receives the length of the suspension in seconds. */
export type SuspensionListener = (seconds: number) => void;

/** Time that passes while the process is stopped or the machine sleeps, and CPU time that does not. */
export interface SuspensionTime {
  elapsedMs(): number;
  cpuMs(): number;
}

const SYSTEM_TIME: SuspensionTime = {
  // Unlike `performance.now()`, the uptime includes the time that the machine slept.
  elapsedMs: () => uptime() * 1000,
  cpuMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

/** Keeps no process running. */
const UNREF_TIMERS: Pick<Timers, "every"> = {
  every(ms, run) {
    const timer = setInterval(run, ms).unref();
    return () => clearInterval(timer);
  },
};

/** Detects that the process was stopped (SIGSTOP) or the machine slept, by gaps in its heartbeat without CPU use. */
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

  /** Returns the function that ends the subscription. */
  onSuspended(listener: SuspensionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Notifies the listeners at once if the process has just been resumed. Clocks call it before they announce a slot. */
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
