import type { Access } from "../access.ts";
import type { Feed } from "./events/feed.ts";

/** Positional or by-name parameters, as parsed from JSON. */
export type Params = unknown[] | Record<string, unknown>;

/** An encoded answer: JSON bytes of the result, whole or as a stream of chunks, and what stands beside the result. */
export interface Answer {
  body: Buffer | AsyncIterable<Buffer>;
  /** The metadata that the standard REST body carries beside `data`, as JSON values. */
  meta?: Record<string, unknown>;
  /** The response headers that the REST twin uses for the same metadata. */
  headers?: Record<string, string>;
}

/** What a transport can do for the caller of a method beside answering it. */
export interface Caller {
  /** Sends the caller what the feed delivers, after the answer to the call; returns an id for the subscription. */
  subscribe(feed: Feed): string;
  /** Whether there was such a subscription of this caller. */
  unsubscribe(id: string): boolean;
  /** Why methods of the class are not served to the caller; undefined when they are. */
  refusal(access: Access): string | undefined;
}

/**
 * What a call may cost: `cheap` ones answer from what is at hand, `heavy` ones may replay blocks, walk through the registry
 * of validators, or make a block.
 */
export type Cost = "cheap" | "heavy";

export interface Method {
  readonly name: string;
  readonly cost: Cost;
  /** Inside a batch, calls that change something run one after the other, in request order. */
  readonly access: Access;
  /** Throws a `Failure` for everything that is the caller's or the node's fault. */
  call(params: Params, caller?: Caller): Promise<Answer>;
}

/** All that a server knows of what can be asked. */
export interface MethodTable {
  find(name: string): Method | undefined;
  /** The existing name that a caller of an unknown one most likely meant. */
  suggest?(name: string): string | undefined;
}
