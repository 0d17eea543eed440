import { entityTag, namesTag } from "../http/entity-tag.ts";
import { bodyFormat, type Format } from "../http/negotiation.ts";
import type { Waiting } from "../method-table.ts";
import type { RequestParts, RestRequest, RestRoute } from "./route-table.ts";

type RequestedRoute = Pick<RestRoute, "verb" | "accepts" | "bodyOptional">;

/** The request to a route that is made of what HTTP carried. */
export class RequestToRoute implements RestRequest {
  readonly params: Record<string, string>;
  readonly url: string;
  readonly headers: Record<string, string | undefined>;
  readonly body: Buffer | undefined;
  readonly waiting: Waiting;
  readonly format: Format | undefined;
  readonly query: string;
  readonly #route: RequestedRoute;

  constructor(route: RequestedRoute, { params, url, headers, body, waiting, format }: RequestParts) {
    this.#route = route;
    this.params = params;
    this.url = url;
    this.headers = headers;
    this.body = body;
    this.waiting = waiting;
    this.format = format;
    const mark = url.indexOf("?");
    this.query = mark === -1 ? "" : url.slice(mark + 1);
  }

  get bodyFormat(): Format | undefined {
    const { accepts, bodyOptional } = this.#route;
    const contentType = this.headers["content-type"];
    // With a body that is left out goes its type.
    if (accepts.length === 0 || (bodyOptional && contentType === undefined && !this.body?.length)) return accepts[0];
    return bodyFormat(contentType, accepts);
  }

  entity(source: string): { tag: string; isHeld: boolean } {
    const tag = entityTag(JSON.stringify([this.url, this.format, source]));
    return { tag, isHeld: this.#route.verb === "GET" && namesTag(this.headers["if-none-match"], tag) };
  }
}
