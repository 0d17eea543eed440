/** Outcome of a request: the HTTP status, "invalid" for an answer that failed validation, or "error" without one. */
export type RequestOutcome = number | "invalid" | "error";

/** Receives the observations behind the metrics. */
export interface GatewayObserver {
  /** A request to an upstream ended. */
  onRequestEnd(upstream: string, method: string, outcome: RequestOutcome, millis: number): void;
  /** A read was also sent to another upstream: hedged because this one was slow, or failed over. */
  onFailover(upstream: string, reason: "slow" | "failed"): void;
  /** Many requests to an upstream failed, so that it is avoided. */
  onCircuitOpen(upstream: string): void;
  /** Upstreams disagreed in a quorum read. */
  onDisagreement(method: string, upstreams: readonly string[]): void;
  /** A cache was looked up. */
  onCacheLookup(where: "memory" | "cache", isHit: boolean): void;
  /** A client with a key made a call. Rejected calls exceed its budget. */
  onClientCall(client: string, outcome: "admitted" | "rejected", units: number): void;
  /** The shared cache became available or unavailable. */
  onCacheState(state: "up" | "down"): void;
}
