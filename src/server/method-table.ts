import type { Failure } from "../errors/failure.ts";
import type { ScannedJson } from "../json/parse.ts";
import type { AccessClass } from "./access-class.ts";
import type { Feed } from "./events/feed.ts";
import type { AccessRights } from "./http/access/api-clients.ts";
import type { RequestTrace } from "./request-trace.ts";

/** Positional or by-name parameters, as parsed from JSON. */
export type Params = unknown[] | Record<string, unknown>;

/** Result of a call as encoded JSON, complete or streamed, with metadata. */
export interface MethodResponse {
  body: Buffer | AsyncIterable<Buffer>;
  /**
   * Metadata that the REST body has in addition to `data`. Serialized after the body, so a `toJSON` may return values
   * known only after the stream has ended.
   */
  meta?: Record<string, unknown>;
  /** REST response headers with the same metadata. */
  headers?: Record<string, string>;
}

/** Subscription operations of the caller's connection. */
export interface Caller {
  /** Sends the feed's events to the caller after the response to this call. Returns the subscription id. */
  subscribe(feed: Feed): string | Promise<string>;
  /** Returns false if the caller has no such subscription. */
  unsubscribe(id: string): boolean | Promise<boolean>;
}

/** A caller together with its access rights. */
export interface Client extends Caller, AccessRights {}

/** Cancellation of a call. */
export interface Cancellation {
  /** Aborted when the client disconnects or the call's time limit expires. */
  readonly signal: AbortSignal;
  /** Calls `listener` on abort; cheaper than a signal. Returns a function that removes it. */
  onAbort?(listener: (reason: Failure) => void): () => void;
  /** Set if the request is traced or logged. */
  readonly trace?: RequestTrace | undefined;
}

/**
 * What a response depends on in addition to the parameters: `head` on the head and fork choice, `status` also on the
 * node's status, and `nothing` on nothing that changes while the node runs.
 */
export type CacheDependency = "head" | "status" | "nothing";

/** Which revision invalidates a cached response. */
export interface CachePolicy {
  readonly on: CacheDependency;
  /** True for responses cheap enough to be recomputed as soon as their revision changes. */
  readonly isPrewarmed: boolean;
}

/**
 * Expected cost of a call: `cheap` uses data in memory. `state` uses the head state in memory, but may replay blocks
 * for other states. `heavy` also iterates over long lists of a state. `duty` is time-critical and has the highest
 * priority. `evm` executes code.
 */
export type CallCost = "cheap" | "duty" | "state" | "heavy" | "evm";

/** A method as seen by the servers. */
export interface CallableMethod {
  readonly name: string;
  readonly cost: CallCost;
  /** Calls with side effects run sequentially in a batch, in request order. */
  readonly access: AccessClass;
  /** True if parameters may be large, such as a block. */
  readonly takesLargeBody: boolean;
  /** True if `cachePolicy` may return a policy. */
  readonly isCacheable?: boolean;
  /** Returns undefined if the response depends on more than a revision, such as the time. */
  cachePolicy?(params: Params): CachePolicy | undefined;
  /**
   * Name of the method that returns the list of all this method's responses. The last parameter is the index in that
   * list; the others are the parameters of the list method.
   */
  readonly elementOf?: string | undefined;
  /** Throws a `Failure` for invalid parameters and expected errors. `json` are the same parameters. */
  call(params: Params, caller?: Caller, cancellation?: Cancellation, json?: ScannedJson): Promise<MethodResponse>;
  /** Calls the method with large parameters, which it parses itself. Throws a `JsonParseError` for invalid JSON. */
  callByJson?(params: ScannedJson, caller?: Caller, cancellation?: Cancellation): Promise<MethodResponse>;
}

/** Methods that a server can call. */
export interface MethodTable {
  find(name: string): CallableMethod | undefined;
  /** Returns the name that a caller of an unknown method most likely meant. */
  suggest?(name: string): string | undefined;
}

/** A table whose methods can be listed. */
export interface ListedMethodTable extends MethodTable {
  /** All names, including aliases. */
  entries(): Iterable<readonly [name: string, method: CallableMethod]>;
}
