import type { AccessClass } from "../access-class.ts";
import type { Feed } from "../events/feed.ts";
import type { Format } from "../http/response/negotiation.ts";
import type { CachePolicy, Cancellation } from "../method-table.ts";

/** A request as routes see it: parts of an HTTP request, with the negotiated response format. */
export interface RestRequest {
  /** Path parameters. */
  params: Record<string, string>;
  /** Path and query as received. */
  url: string;
  /** By lowercase name. Routes read Content-Type, If-None-Match and `eth-*`. */
  headers: Record<string, string | undefined>;
  body: Buffer | undefined;
  cancellation: Cancellation;
  /** The route's response format that matches Accept best; undefined if the route has no formats. */
  readonly format: Format | undefined;
}

/**
 * How long a response may be cached: `never`, `while-unchanged` (revalidated every time), or `forever` for immutable
 * resources.
 */
export type CacheLifetime = "never" | "while-unchanged" | "forever";

/** Part of a body. Large responses are a stream between two buffers. */
export type BodyPart = Buffer | AsyncIterable<Buffer>;

export interface RestResponse {
  status: number;
  headers?: Record<string, string>;
  /** Undefined if the response has no body. */
  content?: { format: Format; parts: readonly BodyPart[] };
  cacheLifetime?: CacheLifetime;
  /** ETag of a cacheable response. Default: hash of the body, none for streams. */
  tag?: string;
  /** Event stream, sent instead of content until the caller disconnects. */
  feed?: Feed;
}

export interface RestRoute {
  /** Name of the method. */
  method: string;
  verb: "GET" | "POST";
  /** Path parameters are names in braces. */
  path: string;
  access: AccessClass;
  /** True for health probes, which need no token. Without one, only the status is sent. */
  isProbe?: true | undefined;
  /**
   * Response formats by preference. The server responds 406 if none is acceptable. Empty if the response has no body or
   * is an event stream, in which case Accept is ignored.
   */
  responseFormats: readonly Format[];
  /** True to choose the first acceptable format even if another has a higher quality. */
  prefersFirst?: boolean;
  /** Body formats. Empty if the route reads no body, or reads it without regard to Content-Type. */
  accepts: readonly Format[];
  /** True if body and Content-Type are optional. The format of a missing body is the first of `accepts`. */
  bodyOptional?: boolean;
  /** True if the body may be large, such as a block. */
  takesLargeBody?: boolean;
  /** True if `cachePolicy` may return a policy. Such responses depend only on URL and format. */
  isCacheable?: boolean;
  /** Returns undefined if the response depends on more than a revision, such as the time. */
  cachePolicy?(request: RestRequest): CachePolicy | undefined;
  /** Method whose route returns the list of all this route's responses, at the same URL without the trailing index. */
  elementOf?: string | undefined;
  /** Throws a `Failure` for invalid requests and expected errors. */
  handle(request: RestRequest): Promise<RestResponse>;
}

/** Routes of the REST server. */
export type RouteTable = readonly RestRoute[];
