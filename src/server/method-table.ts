import type { Failure } from "../errors/failure.ts";
import type { AccessClass } from "./access-class.ts";
import type { Feed } from "./events/feed.ts";

/** Positional or by-name parameters, as parsed from JSON. */
export type Params = unknown[] | Record<string, unknown>;

/** An encoded answer: JSON bytes of the result, whole or as a stream of chunks, and what stands beside the result. */
export interface Answer {
  body: Buffer | AsyncIterable<Buffer>;
  /**
   * The metadata that the standard REST body carries beside `data`, as JSON values. It is written after the body: beside a
   * stream, a `toJSON` of it may tell what is known only when the stream has ended.
   */
  meta?: Record<string, unknown>;
  /** The response headers that the REST twin uses for the same metadata. */
  headers?: Record<string, string>;
}

/** What a transport can do for the caller of a method beside answering it. */
export interface Caller {
  /** Sends the caller what the feed delivers, after the answer to the call; gives an id for the subscription. */
  subscribe(feed: Feed): string | Promise<string>;
  /** Whether there was such a subscription of this caller. */
  unsubscribe(id: string): boolean | Promise<boolean>;
}

/** Whoever a server calls methods for. */
export interface Client extends Caller {
  /** Why methods of the class are not served to the caller; undefined when they are. */
  refusal(access: AccessClass): string | undefined;
}

/** How long somebody waits for the answer to a call. */
export interface Waiting {
  /** Aborted when nobody does any more: the client has left, or the time for the call is over. */
  readonly signal: AbortSignal;
  /** Calls back when that happens, which costs less than a signal; the returned function ends it. */
  onOver?(listener: (reason: Failure) => void): () => void;
}

/**
 * What answers follow from beside the parameters: from the head and all that fork choice says of blocks, from these and the
 * status of the node, or from nothing that changes while the node runs.
 */
export type Dependence = "head" | "status" | "nothing";

/** Which revision invalidates a cached answer. */
export interface CachePolicy {
  readonly on: Dependence;
  /** Set for an answer that is cheap enough to be made again as soon as its revision changes, before the next call. */
  readonly isPreparedAhead: boolean;
}

/**
 * What a call may cost: `cheap` ones answer from what is at hand. So do those of cost `state` for the head's state; for
 * others they may replay blocks. `heavy` ones also walk through long lists of a state. A `duty` is time-critical, and
 * goes before all others.
 */
export type Cost = "cheap" | "duty" | "state" | "heavy";

export interface Method {
  readonly name: string;
  readonly cost: Cost;
  /** Inside a batch, calls that change something run one after the other, in request order. */
  readonly access: AccessClass;
  /** Whether its parameters may be large, as a block is. */
  readonly takesLargeBody: boolean;
  /** Whether some of its answers have a `cachePolicy`. */
  readonly isCacheable?: boolean;
  /** Undefined for parameters whose answer depends on more than a revision, such as the time of day. */
  cachePolicy?(params: Params): CachePolicy | undefined;
  /**
   * The method whose answer is the list of all its answers: the last parameter is an index in that list, and the others
   * are the parameters of that method.
   */
  readonly elementOf?: string | undefined;
  /** Throws a `Failure` for everything that is the caller's or the node's fault. */
  call(params: Params, caller?: Caller, waiting?: Waiting): Promise<Answer>;
  /**
   * The same with parameters that are the member `params` of a long message, where the method reads that itself; throws an
   * `JsonParseError` when it cannot.
   */
  callByMessage?(message: Uint8Array, caller?: Caller, waiting?: Waiting): Promise<Answer>;
}

/** All that a server knows of what can be asked. */
export interface MethodTable {
  find(name: string): Method | undefined;
  /** The existing name that a caller of an unknown one most likely meant. */
  suggest?(name: string): string | undefined;
}

/** A table that also tells all that is in it. */
export interface ListedMethodTable extends MethodTable {
  /** Every name that a method is called by. */
  entries(): Iterable<readonly [name: string, method: Method]>;
}
