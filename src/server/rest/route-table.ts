import type { AccessClass } from "../access-class.ts";
import type { Feed } from "../events/feed.ts";
import type { Format } from "../http/negotiation.ts";
import type { CachePolicy, Waiting } from "../method-table.ts";

/** What HTTP carried, and the format that was chosen for the answer. */
export interface RequestParts {
  /** The values of the placeholders in the route's path. */
  params: Record<string, string>;
  /** Path and query, as they were sent. */
  url: string;
  /** By lower case name; routes read Content-Type, If-None-Match and those whose names begin with `eth-`. */
  headers: Record<string, string | undefined>;
  /** Undefined when there is none. */
  body: Buffer | undefined;
  waiting: Waiting;
  /** The one of the route's `answers` that suits the header Accept best; undefined when the route has none. */
  readonly format: Format | undefined;
}

/** A request as a route sees it, with nothing interpreted but the formats. */
export interface RestRequest extends RequestParts {
  /** What stands after the question mark, as it was sent. */
  query: string;
  /**
   * The one of the route's `accepts` that the header Content-Type names; undefined when the route has none. To read this is
   * to refuse any other type, with 415: so a route can first refuse what is wrong with the rest of the request. Whoever
   * copies a request reads it.
   */
  readonly bodyFormat: Format | undefined;
  /**
   * The entity tag of an answer to the request, in its format, of which everything is known by `source` before it is made;
   * `isHeld` tells whether the caller has that answer already, so that 304 is enough.
   */
  entity(source: string): { tag: string; isHeld: boolean };
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
  content?: { format: Format; parts: readonly BodyPart[] };
  lasting?: Lasting;
  /** The entity tag of an answer that lasts; by default one made of the body, unless that is a stream. */
  tag?: string;
  /** Instead of content: events, which the caller gets until it leaves. */
  feed?: Feed;
}

export interface RestRoute {
  /** The name of the method that is called by it. */
  method: string;
  verb: "GET" | "POST";
  /** Placeholders are names in braces. */
  path: string;
  access: AccessClass;
  /** Set for a health probe, which is answered without a token, then by its status alone. */
  isProbe?: true | undefined;
  /**
   * The formats in which the route can answer; of two that suit a caller as well, the first is chosen. When none suits, the
   * server refuses the request with 406 before `handle`. Empty for a route that answers by its status alone or with events:
   * the header Accept then means nothing.
   */
  answers: readonly Format[];
  /** Whether the first of them is chosen for all whom it suits, also where another would suit better. */
  prefersFirst?: boolean;
  /** The formats in which the route reads a body. Empty for a route that reads none, or any as it is. */
  accepts: readonly Format[];
  /** Whether the body may be left out, and its type with it; its format is then the first of `accepts`. */
  bodyOptional?: boolean;
  /** Whether its body may be large, as a block is. */
  takesLargeBody?: boolean;
  /** Whether some of its answers have a `cachePolicy`; these follow from URL and format alone. */
  isCacheable?: boolean;
  /** Undefined for a request whose answer depends on more than a revision, such as the time of day. */
  cachePolicy?(request: RestRequest): CachePolicy | undefined;
  /** The method whose route answers with the list of all its answers, at the same URL without the index at its end. */
  elementOf?: string | undefined;
  /** Throws a `Failure` for everything that is the caller's or the node's fault. */
  handle(request: RestRequest): Promise<RestAnswer>;
}

/** All that the REST server knows of what can be asked. */
export type RouteTable = readonly RestRoute[];
