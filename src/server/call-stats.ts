import { SYSTEM_TIMERS, type Timers } from "../async/timers.ts";
import type { CallObserver, CallServer, ObservedCall } from "./call-observer.ts";

/** Statistics about calls of one method on one server since the last `drain`. */
export interface CallStats {
  server: CallServer;
  /** Undefined for unknown methods. */
  method: string | undefined;
  begun: number;
  /** Durations of completed calls. */
  seconds: number[];
  errorCodes: number[];
  bytes: number;
}

/** Collects call statistics until they are drained. */
export class CallStatsCollector implements CallObserver {
  readonly #timers: Pick<Timers, "now">;
  #stats = new Map<string, CallStats>();

  constructor(timers: Pick<Timers, "now"> = SYSTEM_TIMERS) {
    this.#timers = timers;
  }

  begin(server: CallServer, method: string | undefined): ObservedCall {
    const startedAt = this.#timers.now();
    this.#statsOf(server, method).begun++;
    return {
      end: (errorCode) => {
        const stats = this.#statsOf(server, method);
        stats.seconds.push((this.#timers.now() - startedAt) / 1000);
        if (errorCode !== undefined) stats.errorCodes.push(errorCode);
      },
      bytes: (count) => {
        this.#statsOf(server, method).bytes += count;
      },
    };
  }

  /** Returns the statistics since the last `drain` and resets them. */
  drain(): CallStats[] {
    const stats = [...this.#stats.values()];
    this.#stats = new Map();
    return stats;
  }

  #statsOf(server: CallServer, method: string | undefined): CallStats {
    const key = `${server} ${method ?? ""}`;
    let stats = this.#stats.get(key);
    if (stats === undefined) {
      stats = { server, method, begun: 0, seconds: [], errorCodes: [], bytes: 0 };
      this.#stats.set(key, stats);
    }
    return stats;
  }
}
