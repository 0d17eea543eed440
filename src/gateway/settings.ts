import type { AccessClass } from "../server/access-class.ts";
import type { NetworkPin } from "./network/network-pin.ts";

/** A beacon node behind the gateway. */
export interface UpstreamSettings {
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
  /** Further request headers by lowercase name. Secret. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Labels that method policies select upstreams by. */
  readonly tags?: readonly string[];
  /** Requests beyond the budget go to other upstreams. */
  readonly budget?: Pick<BudgetSettings, "requestsPerSecond" | "requestsPerDay">;
}

/** Returns the headers of every request to an upstream. */
export function credentialHeaders({
  authorization,
  headers,
}: Pick<UpstreamSettings, "authorization" | "headers">): Record<string, string> {
  return { ...headers, ...(authorization !== undefined && { authorization }) };
}

/** Limits per second and per day (UTC). Undefined for no limit. */
export interface BudgetSettings {
  readonly requestsPerSecond?: number | undefined;
  readonly requestsPerDay?: number | undefined;
  /** Cost units, which weigh calls by the cost of their method. */
  readonly unitsPerSecond?: number | undefined;
  readonly unitsPerDay?: number | undefined;
}

/** A client with its own key, access rights and budget. */
export interface ClientSettings {
  /** Name in logs and metrics. */
  readonly name: string;
  /** SHA-256 of the key, in hex. Undefined for the client of all requests without a key. */
  readonly keyHash?: string | undefined;
  readonly classes: readonly AccessClass[];
  /** Names or patterns of the allowed methods. Undefined allows all. */
  readonly methods?: readonly string[] | undefined;
  readonly budget: BudgetSettings;
}

/** Overrides for the methods that match a pattern. Undefined fields keep the setting of the gateway. */
export interface MethodPolicySettings {
  /** Method name, with `*` for any characters. */
  readonly pattern: string;
  readonly timeoutMillis?: number | undefined;
  readonly hedgeDelayMillis?: number | undefined;
  readonly quorum?: number | undefined;
  /** Longest time in a cache. 0 disables caching. */
  readonly cacheSeconds?: number | undefined;
  /** Only upstreams with one of these tags get requests. */
  readonly tags?: readonly string[] | undefined;
  /** Cost units of a call. */
  readonly units?: number | undefined;
}

/** Redis or Valkey cache that several gateways share. */
export interface CacheSettings {
  /** `redis://` or `rediss://`. May contain credentials. */
  readonly url: string;
  /** Prefix of all keys. */
  readonly prefix: string;
  /** Time to live of final answers. */
  readonly ttlSeconds: number;
}

/** Defaults of the cache, except for its URL. */
export const DEFAULT_CACHE_SETTINGS: Omit<CacheSettings, "url"> = { prefix: "fanal:", ttlSeconds: 86_400 };

/** Settings of a gateway. Its parts receive the object as a whole and declare with `Pick` what they read. */
export interface GatewaySettings {
  readonly upstreams: readonly UpstreamSettings[];
  /** Network to serve. By default the network of most upstreams at startup. */
  readonly network?: NetworkPin | undefined;
  readonly cache?: CacheSettings | undefined;
  /** Number of upstreams that must agree on a finalized checkpoint or a root. 1 disables quorum reads. */
  readonly quorum: number;
  /** Number of upstreams that receive each submission. */
  readonly broadcast: number | "all";
  /** Delay before a read is hedged, until the latency of the upstream is known. */
  readonly hedgeDelayMillis: number;
  /** Maximum lag of a ready upstream behind the others and behind the clock. */
  readonly maxSlotsBehind: number;
  /** Whether answers are checked against the method definitions before they are forwarded or cached. */
  readonly validation: boolean;
  /** Size of the in-memory cache of each process. */
  readonly memoryBytes: number;
  /** Number of server processes; 1 serves in the main process. */
  readonly workers: number;
  /** How long the gateway reports not ready after a stop signal, while it still serves requests. */
  readonly drainMillis: number;
  /** Clients with keys. If there is one, requests need a key. */
  readonly clients: readonly ClientSettings[];
  /** The first policy whose pattern matches a method applies. */
  readonly policies: readonly MethodPolicySettings[];
}

export const DEFAULT_GATEWAY_SETTINGS: Omit<GatewaySettings, "upstreams" | "network" | "cache"> = {
  quorum: 1,
  broadcast: 1,
  hedgeDelayMillis: 300,
  maxSlotsBehind: 3,
  validation: true,
  memoryBytes: 256 * 1024 * 1024,
  workers: 1,
  drainMillis: 0,
  clients: [],
  policies: [],
};
