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
   * Metadata that the REST body contains next to `data`. Serialized after the body, so a `toJSON` may return values
   * known only at the end of the stream.
   */
  meta?: Record<string, unknown>;
  /** The same metadata as REST response headers. */
  headers?: Record<string, string>;
}

/** Subscription operations of the caller's connection. */
export interface Caller {
  /** Subscribes the caller to the feed. Events follow the response to this call. Returns the subscription id. */
  subscribe(feed: Feed): string | Promise<string>;
  /** Returns false if the caller has no such subscription. */
  unsubscribe(id: string): boolean | Promise<boolean>;
}

/** A caller together with its access rights. */
export interface Client extends Caller, AccessRights {}

/** Cancellation of a call by its caller or its time limit. */
export interface Cancellation {
  /** Aborted when the client disconnects or the call's time limit expires. */
  readonly signal: AbortSignal;
  /** Calls `listener` on abort; cheaper than a signal. Returns a function that removes the listener. */
  onAbort?(listener: (reason: Failure) => void): () => void;
  /** Set if the request is traced or logged. */
  readonly trace?: RequestTrace | undefined;
}

/**
 * What invalidates a cached response besides its parameters: `head` depends on the head and fork choice, `status` also
 * on the node's status, `evm` on the blocks and states of the EVM, `nothing` never changes while the node runs.
 */
export type CacheDependency = "head" | "status" | "evm" | "nothing";

/** Which revision invalidates a cached response. */
export interface CachePolicy {
  readonly on: CacheDependency;
  /** True for responses that are cheap enough to be recomputed as soon as their revision changes. */
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
  /** Calls with side effects in a batch run sequentially, in request order. */
  readonly access: AccessClass;
  /** True if parameters may be large, such as a block. */
  readonly takesLargeBody: boolean;
  /** True if `cachePolicy` may return a policy. */
  readonly isCacheable?: boolean;
  /** Returns undefined if the response depends on more than a revision, such as the time. */
  cachePolicy?(params: Params): CachePolicy | undefined;
  /**
   * Method that returns this method's responses as a list. Its parameters are the same without the last one, the index
   * in that list.
   */
  readonly elementOf?: string | undefined;
  /** Throws a `Failure` for invalid parameters and expected errors. `json` is the source of `params`. */
  call(params: Params, caller?: Caller, cancellation?: Cancellation, json?: ScannedJson): Promise<MethodResponse>;
  /** Calls a method that parses its large parameters itself. Throws a `JsonParseError` for invalid JSON. */
  callByJson?(params: ScannedJson, caller?: Caller, cancellation?: Cancellation): Promise<MethodResponse>;
}

/** Methods that a server can call. */
export interface MethodTable {
  find(name: string): CallableMethod | undefined;
  /** Returns the existing name most similar to an unknown one. */
  suggest?(name: string): string | undefined;
}

/** A table whose methods can be listed. */
export interface ListedMethodTable extends MethodTable {
  /** All names, including aliases. */
  entries(): Iterable<readonly [name: string, method: CallableMethod]>;
}
