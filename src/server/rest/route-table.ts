import type { AccessClass } from "../access-class.ts";
import type { Feed } from "../events/feed.ts";
import type { Format } from "../http/response/negotiation.ts";
import type { CachePolicy, Cancellation } from "../method-table.ts";

/** An HTTP request as passed to routes, including the negotiated response format. */
export interface RestRequest {
  /** Path parameters. */
  params: Record<string, string>;
  /** Path and query, as received. */
  url: string;
  /** Keys are in lower case. Routes read Content-Type, If-None-Match and `eth-*`. */
  headers: Record<string, string | undefined>;
  body: Buffer | undefined;
  cancellation: Cancellation;
  /** The negotiated response format, or undefined if the route has no formats. */
  readonly format: Format | undefined;
}

/**
 * How long a response may be cached: `never`, `while-unchanged` (revalidated on each use), or `forever` (immutable).
 */
export type CacheLifetime = "never" | "while-unchanged" | "forever";

/** A part of a body. A large response consists of a stream between two buffers. */
export type BodyPart = Buffer | AsyncIterable<Buffer>;

export interface RestResponse {
  status: number;
  headers?: Record<string, string>;
  /** Undefined if the response has no body. */
  content?: { format: Format; parts: readonly BodyPart[] };
  cacheLifetime?: CacheLifetime;
  /** ETag of a cacheable response. Defaults to a hash of the body. Streams have no ETag by default. */
  tag?: string;
  /** An event stream, sent instead of content until the caller disconnects. */
  feed?: Feed;
}

export interface RestRoute {
  /** Name of the method. */
  method: string;
  verb: "GET" | "POST";
  /** The path, in which parameters are names in braces. */
  path: string;
  access: AccessClass;
  /** True for health probes, which need no token. If the token is missing, the response is only a status. */
  isProbe?: true | undefined;
  /**
   * Response formats in order of preference. If none is acceptable, the server responds 406. Empty if the response has
   * no body or is an event stream, in which case Accept is ignored.
   */
  responseFormats: readonly Format[];
  /** If true, the first acceptable format is chosen regardless of quality values. */
  prefersFirst?: boolean;
  /** Accepted body formats. Empty if the route does not read a body or ignores Content-Type. */
  accepts: readonly Format[];
  /** True if body and Content-Type are optional. A missing body is treated as having the first format in `accepts`. */
  bodyOptional?: boolean;
  /** True if the body may be large, such as a block. */
  takesLargeBody?: boolean;
  /** True if `cachePolicy` may return a policy. The response must then depend only on the URL and the format. */
  isCacheable?: boolean;
  /** Returns undefined if the response depends on anything but a revision, such as the time. */
  cachePolicy?(request: RestRequest): CachePolicy | undefined;
  /**
   * Name of the method whose route returns a list of this route's responses. The URL of the list is this route's URL
   * without the index at its end.
   */
  elementOf?: string | undefined;
  /**
   * Returns a promise unless the response is available immediately, for example from a cache. Throws a `Failure` if the
   * request is invalid or an expected error occurs.
   */
  handle(request: RestRequest): RestResponse | Promise<RestResponse>;
}

/** Routes of the REST server. */
export type RouteTable = readonly RestRoute[];
