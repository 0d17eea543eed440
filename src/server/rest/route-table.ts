import type { AccessClass } from "../access-class.ts";
import type { Feed } from "../events/feed.ts";
import type { Format } from "../http/response/negotiation.ts";
import type { CachePolicy, Cancellation } from "../method-table.ts";

/** An HTTP request as passed to routes, with the negotiated response format. */
export interface RestRequest {
  /** Path parameters. */
  params: Record<string, string>;
  /** Path and query as received. */
  url: string;
  /** Keys are lowercase. Routes read Content-Type, If-None-Match and `eth-*`. */
  headers: Record<string, string | undefined>;
  body: Buffer | undefined;
  cancellation: Cancellation;
  /** Negotiated response format; undefined if the route has no formats. */
  readonly format: Format | undefined;
}

/** How long a response may be cached: `never`, `while-unchanged` (revalidated every time), or `forever` (immutable). */
export type CacheLifetime = "never" | "while-unchanged" | "forever";

/** Part of a body. Large responses are a stream between two buffers. */
export type BodyPart = Buffer | AsyncIterable<Buffer>;

export interface RestResponse {
  status: number;
  headers?: Record<string, string>;
  /** Undefined if the response has no body. */
  content?: { format: Format; parts: readonly BodyPart[] };
  cacheLifetime?: CacheLifetime;
  /** ETag of a cacheable response. Default: hash of the body; streams have none. */
  tag?: string;
  /** Event stream, sent instead of content until the caller disconnects. */
  feed?: Feed;
}

export interface RestRoute {
  /** Name of the method. */
  method: string;
  verb: "GET" | "POST";
  /** Path parameters are written as names in braces. */
  path: string;
  access: AccessClass;
  /** True for health probes, which need no token. Without a token, the response is only a status. */
  isProbe?: true | undefined;
  /**
   * Response formats by preference. The server responds 406 if none is acceptable. Empty if the response has no body or
   * is an event stream, in which case Accept is ignored.
   */
  responseFormats: readonly Format[];
  /** True to choose the first acceptable format regardless of quality values. */
  prefersFirst?: boolean;
  /** Accepted body formats. Empty if the route reads no body or ignores Content-Type. */
  accepts: readonly Format[];
  /** True if body and Content-Type are optional. A missing body has the first format of `accepts`. */
  bodyOptional?: boolean;
  /** True if the body may be large, such as a block. */
  takesLargeBody?: boolean;
  /** True if `cachePolicy` may return a policy. Such responses depend only on URL and format. */
  isCacheable?: boolean;
  /** Returns undefined if the response depends on more than a revision, such as the time. */
  cachePolicy?(request: RestRequest): CachePolicy | undefined;
  /** Method whose route returns this route's responses as a list, at the same URL without the trailing index. */
  elementOf?: string | undefined;
  /** Throws a `Failure` for invalid requests and expected errors. */
  handle(request: RestRequest): Promise<RestResponse>;
}

/** Routes of the REST server. */
export type RouteTable = readonly RestRoute[];
