import { SYSTEM_TIMERS, type Timers } from "../async/timers.ts";
import type { CallObserver, CallServer, ObservedCall } from "./call-observer.ts";

/** What was observed of the calls of one method over one server since it was last told. */
export interface CallTally {
  server: CallServer;
  /** Undefined for calls by names that are none. */
  method: string | undefined;
  begun: number;
  /** How long each call took that has ended. */
  seconds: number[];
  errorCodes: number[];
  bytes: number;
}

/** Observes calls for somebody who asks for the sums now and then. */
export class CallTallies implements CallObserver {
  readonly #timers: Pick<Timers, "now">;
  #tallies = new Map<string, CallTally>();

  constructor(timers: Pick<Timers, "now"> = SYSTEM_TIMERS) {
    this.#timers = timers;
  }

  begin(server: CallServer, method: string | undefined): ObservedCall {
    const began = this.#timers.now();
    this.#tallyOf(server, method).begun++;
    return {
      end: (errorCode) => {
        const tally = this.#tallyOf(server, method);
        tally.seconds.push((this.#timers.now() - began) / 1000);
        if (errorCode !== undefined) tally.errorCodes.push(errorCode);
      },
      bytes: (count) => {
        this.#tallyOf(server, method).bytes += count;
      },
    };
  }

  /** What was observed since the last time. */
  take(): CallTally[] {
    const tallies = [...this.#tallies.values()];
    this.#tallies = new Map();
    return tallies;
  }

  #tallyOf(server: CallServer, method: string | undefined): CallTally {
    const key = `${server} ${method ?? ""}`;
    let tally = this.#tallies.get(key);
    if (tally === undefined) {
      tally = { server, method, begun: 0, seconds: [], errorCodes: [], bytes: 0 };
      this.#tallies.set(key, tally);
    }
    return tally;
  }
}
