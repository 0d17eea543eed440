/** A beacon node behind the gateway. */
export interface UpstreamOptions {
  /** Name in headers, logs and metrics. By default host and port. */
  readonly name: string;
  /** URL without credentials. */
  readonly url: string;
  /**
   * Upstreams of a higher tier get requests only if none of a lower tier is available, or for a second attempt. Starts
   * at 0.
   */
  readonly tier: number;
  /** Share of the requests among the upstreams of a tier. */
  readonly weight: number;
  /** Value of the Authorization header. Secret. */
  readonly authorization?: string;
}

/** Redis or Valkey cache that several gateways share. */
export interface CacheOptions {
  /** `redis://` or `rediss://`. May contain credentials. */
  readonly url: string;
  /** Prefix of all keys. */
  readonly prefix: string;
  /** Time to live of final answers. */
  readonly ttlSeconds: number;
}

export interface GatewayOptions {
  readonly upstreams: readonly UpstreamOptions[];
  /** Number of upstreams that must agree on a finalized checkpoint or a root. 1 disables quorum reads. */
  readonly quorum: number;
  /** Number of upstreams that receive each submission. */
  readonly broadcast: number | "all";
  /** Size of the in-memory cache of each process. */
  readonly memoryBytes: number;
  readonly cache?: CacheOptions;
  /** Maximum lag of a ready upstream behind the others and behind the clock. */
  readonly maxSlotsBehind: number;
  /** Delay before a read is hedged, until the latency of the upstream is known. */
  readonly hedgeDelayMillis: number;
}
