import type { GatewayObserver, RequestOutcome } from "./gateway-observer.ts";

/** Durations of all requests to one upstream with the same outcome. */
export interface RequestCounts {
  upstream: string;
  /** HTTP status, "invalid" or "error". */
  outcome: string;
  /** One duration per request. */
  seconds: number[];
}

/** Count of one kind of event. */
export interface EventCount {
  kind: "failover" | "circuitOpen" | "disagreement" | "cacheLookup" | "clientCall" | "clientUnits";
  /** The slow, failed or avoided upstream, the method, the cache that was looked up, or the client. */
  subject: string;
  /** The reason of a failover, "found" or "missing", or "admitted" or "rejected". */
  detail: string;
  count: number;
}

/** Counts since the previous report. Structured-cloneable. */
export interface GatewayCounts {
  requests: RequestCounts[];
  counts: EventCount[];
  /** Undefined if unchanged. */
  cache: "up" | "down" | undefined;
}

/** Accumulates observations until they are collected with `take`. */
export class GatewayCounters implements GatewayObserver {
  #requests = new Map<string, RequestCounts>();
  #counts = new Map<string, EventCount>();
  #cache: GatewayCounts["cache"];

  onRequestEnd(upstream: string, _method: string, outcome: RequestOutcome, millis: number): void {
    const key = `${upstream} ${outcome}`;
    let tally = this.#requests.get(key);
    if (tally === undefined) {
      tally = { upstream, outcome: String(outcome), seconds: [] };
      this.#requests.set(key, tally);
    }
    tally.seconds.push(millis / 1000);
  }

  onFailover(first: string, reason: "slow" | "failed"): void {
    this.#count("failover", first, reason);
  }

  onCircuitOpen(upstream: string): void {
    this.#count("circuitOpen", upstream, "");
  }

  onDisagreement(method: string): void {
    this.#count("disagreement", method, "");
  }

  onCacheLookup(where: "memory" | "cache", isHit: boolean): void {
    this.#count("cacheLookup", where, isHit ? "found" : "missing");
  }

  onClientCall(client: string, outcome: "admitted" | "rejected", units: number): void {
    this.#count("clientCall", client, outcome);
    if (units > 0) this.#count("clientUnits", client, "", units);
  }

  onCacheState(state: "up" | "down"): void {
    this.#cache = state;
  }

  /** Returns the counts since the last call and resets them. */
  take(): GatewayCounts {
    const tally = { requests: [...this.#requests.values()], counts: [...this.#counts.values()], cache: this.#cache };
    this.#requests = new Map();
    this.#counts = new Map();
    this.#cache = undefined;
    return tally;
  }

  #count(kind: EventCount["kind"], subject: string, detail: string, count = 1): void {
    const key = `${kind} ${subject} ${detail}`;
    const tally = this.#counts.get(key);
    if (tally) tally.count += count;
    else this.#counts.set(key, { kind, subject, detail, count });
  }
}
