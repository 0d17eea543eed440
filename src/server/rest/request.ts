import { bodyFormat, type Format } from "../http/response/negotiation.ts";
import type { RestRequest, RestRoute } from "./route-table.ts";

/** Returns the query string as received. */
export function queryOf({ url }: Pick<RestRequest, "url">): string {
  const mark = url.indexOf("?");
  return mark === -1 ? "" : url.slice(mark + 1);
}

/**
 * Returns the body format according to the Content-Type, or undefined if the route accepts no body. Throws 415 for any
 * other type. Routes call this function themselves, so that they can report other errors first.
 */
export function bodyFormatOf(
  { accepts, bodyOptional }: Pick<RestRoute, "accepts" | "bodyOptional">,
  { headers, body }: Pick<RestRequest, "headers" | "body">,
): Format | undefined {
  const contentType = headers["content-type"];
  // If there is no body, Content-Type is optional.
  if (accepts.length === 0 || (bodyOptional && contentType === undefined && !body?.length)) return accepts[0];
  return bodyFormat(contentType, accepts);
}
