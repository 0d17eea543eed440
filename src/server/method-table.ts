import type { Failure } from "../errors/failure.ts";
import type { ScannedJson } from "../json/parse.ts";
import type { AccessClass } from "./access-class.ts";
import type { Feed } from "./events/feed.ts";
import type { AccessRights } from "./http/access/api-clients.ts";
import type { RequestTrace } from "./request-trace.ts";

/** Parameters by position or by name, as parsed from JSON. */
export type Params = unknown[] | Record<string, unknown>;

/** The result of a call as encoded JSON, either complete or streamed, and its metadata. */
export interface MethodResponse {
  body: Buffer | AsyncIterable<Buffer>;
  /**
   * Metadata that a REST body contains next to `data`. Serialized after the body, so a `toJSON` method may return
   * values that are known only at the end of the stream.
   */
  meta?: Record<string, unknown>;
  /** The same metadata as REST response headers. */
  headers?: Record<string, string>;
  /** Status in REST, in place of 200. A response with the status 204 has no body there. */
  status?: number;
}

/** Subscription operations on the caller's connection. */
export interface Caller {
  /**
   * Subscribes the caller to the feed and returns the subscription id. Events are sent after the response to this call.
   */
  subscribe(feed: Feed): string | Promise<string>;
  /** Returns false if the caller has no such subscription. */
  unsubscribe(id: string): boolean | Promise<boolean>;
}

/** A caller and its access rights. */
export interface Client extends Caller, AccessRights {}

/** Tells a call that its caller has left or that its time limit has expired. */
export interface Cancellation {
  /** Aborted when the client disconnects or the time limit of the call expires. */
  readonly signal: AbortSignal;
  /**
   * Calls `listener` on abort, which is cheaper than using the signal. Returns a function that removes the listener.
   */
  onAbort?(listener: (reason: Failure) => void): () => void;
  /** Set if the request is traced or logged. */
  readonly trace?: RequestTrace | undefined;
}

/**
 * What, besides the parameters, determines a cached response: for `head` the head and fork choice, for `status` the
 * node's status as well, and for `evm` the blocks and states of the EVM. For `nothing`, the response never changes
 * while the node is running.
 */
export type CacheDependency = "head" | "status" | "evm" | "nothing";

/** Determines which revision invalidates a cached response. */
export interface CachePolicy {
  readonly on: CacheDependency;
  /** True for responses that are cheap enough to be recomputed as soon as their revision changes. */
  readonly isPrewarmed: boolean;
}

/**
 * Expected cost of a call. `cheap` uses data in memory. `state` uses the head state in memory, but may replay blocks
 * for other states. `heavy` also iterates over long lists in a state. `duty` is time-critical and has the highest
 * priority. `evm` executes code.
 */
export type CallCost = "cheap" | "duty" | "state" | "heavy" | "evm";

/** A method as seen by the servers. */
export interface CallableMethod {
  readonly name: string;
  readonly cost: CallCost;
  /** In a batch, calls with side effects run sequentially, in the order of the requests. */
  readonly access: AccessClass;
  /** True if the parameters may be large, such as a block. */
  readonly takesLargeBody: boolean;
  /** True if `cachePolicy` may return a policy. */
  readonly isCacheable?: boolean;
  /** Returns undefined if the response depends on anything but a revision, such as the time. */
  cachePolicy?(params: Params): CachePolicy | undefined;
  /**
   * Name of the method that returns a list of this method's responses. That method has the same parameters, except for
   * the last one, which is the index in the list.
   */
  readonly elementOf?: string | undefined;
  /**
   * Returns a promise unless the response is available immediately, for example from a cache. Throws a `Failure` if the
   * parameters are invalid or an expected error occurs. `json` is the source of `params`.
   */
  call(
    params: Params,
    caller?: Caller,
    cancellation?: Cancellation,
    json?: ScannedJson,
  ): MethodResponse | Promise<MethodResponse>;
  /** Calls a method that parses its large parameters itself. Throws a `JsonParseError` if they are not valid JSON. */
  callByJson?(params: ScannedJson, caller?: Caller, cancellation?: Cancellation): Promise<MethodResponse>;
}

/** Methods that a server can call. */
export interface MethodTable {
  find(name: string): CallableMethod | undefined;
  /** Returns the existing name that is most similar to an unknown one. */
  suggest?(name: string): string | undefined;
}

/** A table whose methods can be listed. */
export interface ListedMethodTable extends MethodTable {
  /** All names, including aliases. */
  entries(): Iterable<readonly [name: string, method: CallableMethod]>;
}
