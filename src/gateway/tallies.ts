import type { GatewayObserver } from "./observer.ts";

/** What was observed of the questions to one upstream that ended in one way. */
export interface AskedTally {
  upstream: string;
  /** A status, or "error". */
  outcome: string;
  /** How long each took. */
  seconds: number[];
}

/** How often something happened that is told apart by two words. */
export interface CountTally {
  what: "askedAnother" | "disagreed" | "looked";
  /** The upstream that was slow or failed, the method, or where was looked. */
  of: string;
  /** Why another was asked, or whether it was found. */
  how: string;
  count: number;
}

/** What was observed since it was last told; a plain value, which can be sent to another process. */
export interface GatewayTally {
  asked: AskedTally[];
  counts: CountTally[];
  /** Undefined when it has not changed. */
  cache: "up" | "down" | undefined;
}

/** Observes a gateway for somebody who asks for the sums now and then. */
export class GatewayTallies implements GatewayObserver {
  #asked = new Map<string, AskedTally>();
  #counts = new Map<string, CountTally>();
  #cache: GatewayTally["cache"];

  asked(upstream: string, _method: string, outcome: number | "error", millis: number): void {
    const key = `${upstream} ${outcome}`;
    let tally = this.#asked.get(key);
    if (tally === undefined) {
      tally = { upstream, outcome: String(outcome), seconds: [] };
      this.#asked.set(key, tally);
    }
    tally.seconds.push(millis / 1000);
  }

  askedAnother(first: string, reason: "slow" | "failed"): void {
    this.#count("askedAnother", first, reason);
  }

  disagreed(method: string): void {
    this.#count("disagreed", method, "");
  }

  looked(where: "memory" | "cache", found: boolean): void {
    this.#count("looked", where, found ? "found" : "missing");
  }

  cacheIs(state: "up" | "down"): void {
    this.#cache = state;
  }

  /** What was observed since the last time. */
  take(): GatewayTally {
    const tally = { asked: [...this.#asked.values()], counts: [...this.#counts.values()], cache: this.#cache };
    this.#asked = new Map();
    this.#counts = new Map();
    this.#cache = undefined;
    return tally;
  }

  #count(what: CountTally["what"], of: string, how: string): void {
    const key = `${what} ${of} ${how}`;
    const tally = this.#counts.get(key);
    if (tally) tally.count++;
    else this.#counts.set(key, { what, of, how, count: 1 });
  }
}
