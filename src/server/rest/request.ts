import { entityTag, namesTag } from "../http/entity-tag.ts";
import { bodyFormat } from "../http/negotiation.ts";
import type { RequestParts, RestRequest, RestRoute } from "./route-table.ts";

/** The request to a route that is made of what HTTP carried. */
export function requestTo(
  { verb, accepts, bodyOptional }: Pick<RestRoute, "verb" | "accepts" | "bodyOptional">,
  parts: RequestParts,
): RestRequest {
  const { url, headers, body, format } = parts;
  const mark = url.indexOf("?");
  return {
    ...parts,
    query: mark === -1 ? "" : url.slice(mark + 1),
    get bodyFormat() {
      const contentType = headers["content-type"];
      // With a body that is left out goes its type.
      if (accepts.length === 0 || (bodyOptional && contentType === undefined && !body?.length)) return accepts[0];
      return bodyFormat(contentType, accepts);
    },
    entity(source) {
      const tag = entityTag(JSON.stringify([url, format, source]));
      return { tag, isHeld: verb === "GET" && namesTag(headers["if-none-match"], tag) };
    },
  };
}
