import { entityTag, matchesTag } from "../http/response/entity-tag.ts";
import { bodyFormat, type Format } from "../http/response/negotiation.ts";
import type { Cancellation } from "../method-table.ts";
import type { RequestParts, RestRequest, RestRoute } from "./route-table.ts";

type RequestedRoute = Pick<RestRoute, "verb" | "accepts" | "bodyOptional">;

/** Request to a route, built from the parts of an HTTP request. */
export class RouteRequest implements RestRequest {
  readonly params: Record<string, string>;
  readonly url: string;
  readonly headers: Record<string, string | undefined>;
  readonly body: Buffer | undefined;
  readonly cancellation: Cancellation;
  readonly format: Format | undefined;
  readonly query: string;
  readonly #route: RequestedRoute;

  constructor(route: RequestedRoute, { params, url, headers, body, cancellation, format }: RequestParts) {
    this.#route = route;
    this.params = params;
    this.url = url;
    this.headers = headers;
    this.body = body;
    this.cancellation = cancellation;
    this.format = format;
    const mark = url.indexOf("?");
    this.query = mark === -1 ? "" : url.slice(mark + 1);
  }

  get bodyFormat(): Format | undefined {
    const { accepts, bodyOptional } = this.#route;
    const contentType = this.headers["content-type"];
    // Without a body, Content-Type is optional.
    if (accepts.length === 0 || (bodyOptional && contentType === undefined && !this.body?.length)) return accepts[0];
    return bodyFormat(contentType, accepts);
  }

  entity(source: string): { tag: string; isHeld: boolean } {
    const tag = entityTag(JSON.stringify([this.url, this.format, source]));
    return { tag, isHeld: this.#route.verb === "GET" && matchesTag(this.headers["if-none-match"], tag) };
  }
}
