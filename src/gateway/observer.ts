/** Somebody who watches what the gateway does; all of it may be left to nobody. */
export interface GatewayObserver {
  /** An upstream was asked: `outcome` is its status, or "error" when it gave none. */
  asked(upstream: string, method: string, outcome: number | "error", millis: number): void;
  /** A second upstream was asked because the first was slow, or failed. */
  askedAnother(first: string, reason: "slow" | "failed"): void;
  /** Upstreams did not agree. */
  disagreed(method: string, upstreams: readonly string[]): void;
  /** An answer was kept, or was not. */
  looked(where: "memory" | "cache", found: boolean): void;
  /** The cache engine failed, or works again. */
  cacheIs(state: "up" | "down"): void;
}
