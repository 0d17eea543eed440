import { allowsSsz, type MethodDefinition, type RestPath } from "../../api/definition.ts";
import { locateParams } from "../../api/rest/param-locations.ts";
import { isReadOnly } from "../../server/access-class.ts";
import { errorBody } from "../../server/http/http-error.ts";
import { type Format, MEDIA_TYPES, mediaTypeOf } from "../../server/http/response/negotiation.ts";
import { bodyFormatOf, queryOf } from "../../server/rest/request.ts";
import type { CacheLifetime, RestRequest, RestResponse, RestRoute } from "../../server/rest/route-table.ts";
import { type ErrorResponse, isErrorResponse, parseErrorBody } from "../upstream/requests/error-response.ts";
import { hasUnknownOutcome, withUnknownOutcome } from "../upstream/requests/submission.ts";
import type { UpstreamCall, UpstreamResponse } from "../upstream/upstream-call.ts";
import { isStatusOnly } from "./responses/response-form.ts";
import { ethHeaders, upstreamHeaders } from "./responses/rpc-result.ts";
import { upstreamLimitMessage } from "./responses/upstream-failure.ts";
import { type BuiltRequest, requirePathSafe } from "./rest-request-builder.ts";

/** Returns the formats of a route, so that the server can reject unsupported ones without an upstream. */
export function routeFormats(
  method: MethodDefinition,
  rest: RestPath,
): Pick<RestRoute, "responseFormats" | "prefersFirst" | "accepts" | "bodyOptional" | "takesLargeBody"> {
  const formats = (what: "response" | "body"): Format[] => (allowsSsz(rest, what) ? ["json", "ssz"] : ["json"]);
  const hasBody = locateParams(method.restParams, rest).some(({ from }) => from === "body");
  return {
    responseFormats: isStatusOnly(method) ? [] : formats("response"),
    prefersFirst: rest.prefersJson,
    accepts: hasBody && !rest.takesText ? formats("body") : [],
    bodyOptional: isReadOnly(method.access),
    takesLargeBody: rest.verb === "POST" && !rest.takesText,
  };
}

/** Creates a function that turns client requests to a path into upstream requests to `upstreamPath`. */
export function createForwarder(
  method: MethodDefinition,
  rest: RestPath,
  upstreamPath = rest.path,
): (request: RestRequest, format?: Format) => BuiltRequest & Pick<UpstreamCall, "format"> {
  const locations = locateParams(method.restParams, rest);
  const route = routeFormats(method, rest);
  const inQuery = new Set(locations.flatMap(({ param, from }) => (from === "query" ? [param.name] : [])));
  return (request, format = request.format ?? "json") => {
    const { body } = request;
    const query = queryOf(request);
    const headers: Record<string, string> = { accept: MEDIA_TYPES[format] };
    if (body?.length) {
      const bodyFormat = bodyFormatOf(route, request);
      const contentType = bodyFormat === undefined ? request.headers["content-type"] : MEDIA_TYPES[bodyFormat];
      if (contentType !== undefined) headers["content-type"] = contentType;
    }
    for (const name in request.headers) {
      const value = request.headers[name];
      if (name.startsWith("eth-") && value !== undefined) headers[name] = value;
    }
    const params: Record<string, string> = { ...request.params };
    // The URL is rebuilt from the matched path, because the client's URL may have another host or a suffix.
    let url = upstreamPath;
    for (const name in params) {
      requirePathSafe(name, params[name]!);
      url = url.replace(`{${name}}`, params[name]!);
    }
    if (query !== "") {
      for (const [name, value] of new URLSearchParams(query)) {
        if (inQuery.has(name)) params[name] = params[name] === undefined ? value : `${params[name]},${value}`;
      }
      url += `?${query}`;
    }
    return { request: { verb: rest.verb, url, headers, ...(body?.length && { body }) }, params, format };
  };
}

/** Answers created from cached responses, which are the same object on every hit. */
const cachedAnswers = new WeakMap<UpstreamResponse, RestResponse>();

/** Converts an upstream response to a REST answer. */
export function forwardedAnswer(method: MethodDefinition, response: UpstreamResponse): RestResponse {
  if (response.cachedIn !== "memory") return newAnswer(method, response);
  const cached = cachedAnswers.get(response) ?? newAnswer(method, response);
  cachedAnswers.set(response, cached);
  return cached;
}

function newAnswer(method: MethodDefinition, response: UpstreamResponse): RestResponse {
  const { status, body, headers } = response;
  const answer = {
    status,
    headers: { ...upstreamHeaders(response), ...ethHeaders(response), ...retryHeaders(response) },
  };
  if (isErrorResponse(response))
    return { ...answer, content: { format: "json", parts: [refusalBody(method, response)] } };
  // An empty body may be a valid answer: an empty list in SSZ.
  if (Buffer.isBuffer(body) && body.length === 0 && headers["content-type"] === undefined) return answer;
  const format = mediaTypeOf(headers["content-type"]) === MEDIA_TYPES.ssz ? "ssz" : "json";
  const cacheLifetime = cachingOf(headers["cache-control"]);
  return {
    ...answer,
    content: { format, parts: [body] },
    cacheLifetime,
    ...(cacheLifetime !== "never" && { tag: headers.etag }),
  };
}

/** Returns the `Retry-After` header of a busy upstream, in seconds or as an HTTP date. */
function retryHeaders({ status, headers }: UpstreamResponse): Record<string, string> {
  const value = headers["retry-after"] ?? "";
  const isBusy = status === 429 || status === 503;
  return isBusy && /^(?:\d+|[\w, :]+ GMT)$/.test(value) ? { "Retry-After": value } : {};
}

function cachingOf(cacheControl = ""): CacheLifetime {
  if (/\bimmutable\b/.test(cacheControl)) return "forever";
  return /\bno-cache\b/.test(cacheControl) ? "while-unchanged" : "never";
}

/** Errors are always JSON, even those of a proxy. */
function refusalBody(method: MethodDefinition, response: ErrorResponse): Buffer {
  const { upstream, status, headers, body } = response;
  if (status === 429) return errorBody(status, upstreamLimitMessage(upstream, parseErrorBody(response)));
  if (mediaTypeOf(headers["content-type"]) === MEDIA_TYPES.json) return body;
  const message = parseErrorBody(response).message || `Upstream ${upstream} answered with HTTP status ${status}.`;
  return errorBody(status, hasUnknownOutcome(method, response) ? withUnknownOutcome(message) : message);
}
