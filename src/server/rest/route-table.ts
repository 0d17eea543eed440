import type { Feed } from "../events/feed.ts";

/** A request as a route sees it: what HTTP carried, nothing interpreted. */
export interface RestRequest {
  /** The values of the placeholders in the route's path. */
  params: Record<string, string>;
  /** What stands after the question mark, as it was sent. */
  query: string;
  /** By lower case name. */
  headers: Record<string, string | undefined>;
  /** Undefined when there is none. */
  body: Buffer | undefined;
}

/**
 * How long an answer stays true: `never` beyond the moment, `while-unchanged` as long as asking again gives the same bytes,
 * `forever` when its address can never stand for anything else.
 */
export type Lasting = "never" | "while-unchanged" | "forever";

/** One piece of a body; a large answer is a stream between two buffers. */
export type BodyPart = Buffer | AsyncIterable<Buffer>;

export interface RestAnswer {
  status: number;
  headers?: Record<string, string>;
  /** Undefined for an answer by its status alone. */
  content?: { mediaType: string; parts: readonly BodyPart[] };
  lasting?: Lasting;
  /** Instead of content: events, which the caller gets until it leaves. */
  feed?: Feed;
}

export interface RestRoute {
  verb: "GET" | "POST";
  /** Placeholders are names in braces. */
  path: string;
  /** Throws a `Failure` or a `RestRefusal` for everything that is the caller's or the node's fault. */
  handle(request: RestRequest): Promise<RestAnswer>;
}

/** All that the REST door knows of what can be asked. */
export type RouteTable = readonly RestRoute[];
