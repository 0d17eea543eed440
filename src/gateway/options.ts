/** One beacon node behind the gateway. */
export interface UpstreamOptions {
  /** What it is called in headers, logs and metrics; its host and port unless another name is given. */
  readonly name: string;
  /** Without credentials: these are in `authorization`. */
  readonly url: string;
  /** Those of a later tier are asked only when none of an earlier one can be, or no other where one more is asked. From 0. */
  readonly tier: number;
  /** How much of the questions it gets, beside the others of its tier. */
  readonly weight: number;
  /** The value of the header Authorization, read from a file or from the URL; it is told to nobody. */
  readonly authorization?: string;
}

/** Where answers are kept that other gateways have a use for, too. */
export interface CacheOptions {
  /** `redis://` or `rediss://`; credentials in it are told to nobody. */
  readonly url: string;
  /** Stands before all keys, so that several can share an engine. */
  readonly prefix: string;
  /** How long it keeps what is final. */
  readonly seconds: number;
}

export interface GatewayOptions {
  readonly upstreams: readonly UpstreamOptions[];
  /** How many upstreams have to agree on a finalized checkpoint or a root; 1 for no such question. */
  readonly quorum: number;
  /** How many upstreams get what is submitted. */
  readonly broadcast: number | "all";
  /** How many bytes of answers are kept in this process. */
  readonly memoryBytes: number;
  readonly cache?: CacheOptions;
  /** How far an upstream may be behind the others or the clock and still be ready. */
  readonly maxSlotsBehind: number;
  /** How long an upstream may take to answer before another is asked, where its own latency does not tell yet. */
  readonly hedgeMillis: number;
}
