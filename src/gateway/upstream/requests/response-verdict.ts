import { skipSpace, skipSpaceBack } from "../../../json/value-bounds.ts";
import { MEDIA_TYPES, mediaTypeOf } from "../../../server/http/response/negotiation.ts";
import type { UpstreamCall, UpstreamResponse } from "../upstream-call.ts";
import { isHtml, isUnsupportedOperation, parseErrorBody } from "./error-response.ts";

/**
 * Classification of the response to a read. `accepted`: returned to the client. `unconfirmed`: returned unless one
 * other upstream has a better answer. `failed`: retried on other upstreams. `unsupported`: the client software of the
 * upstream does not have the operation.
 */
export type ResponseVerdict = "accepted" | "unconfirmed" | "failed" | "unsupported";

/** The upstream may have pruned the object, not seen it yet, or have stricter limits than others. */
const MAY_DIFFER: ReadonlySet<number> = new Set([400, 404, 413, 414]);
/** The upstream rejects the gateway, not the caller. */
const REJECTS_GATEWAY: ReadonlySet<number> = new Set([401, 403, 408, 429]);

const NO_CONTENT = 204;

export function classifyResponse(
  response: UpstreamResponse,
  { method }: Pick<UpstreamCall, "method">,
): ResponseVerdict {
  const { status } = response;
  // Another upstream may have what this one has not seen.
  if (status === NO_CONTENT && method.mayBeEmpty) return "unconfirmed";
  if (status < 400) return "accepted";
  // Health operations answer by status.
  if (method.restStatusOf !== undefined || method.resultForStatus !== undefined) return "accepted";
  if (isUnsupportedOperation(response)) return "unsupported";
  if (status >= 500 || REJECTS_GATEWAY.has(status) || isHtml(response)) return "failed";
  return MAY_DIFFER.has(status) ? "unconfirmed" : "accepted";
}

/** Returns an error message if the upstream rejects the credentials of the gateway. */
export function credentialError({ upstream, status }: UpstreamResponse): string | undefined {
  if (status !== 401 && status !== 403) return undefined;
  return `${upstream} rejects the gateway with HTTP status ${status}. Check the credentials of this upstream.`;
}

/** Returns why a successful response cannot be from a beacon node, judged without reading a streamed body. */
export function invalidResponseReason(
  { upstream, status, headers, body }: UpstreamResponse,
  { method, format }: UpstreamCall,
): string | undefined {
  if (status >= 300 || method.resultForStatus !== undefined) return undefined;
  if (status === NO_CONTENT && method.mayBeEmpty) return undefined;
  if (status !== 200) return `${upstream} answered with HTTP status ${status} instead of 200.`;
  const type = mediaTypeOf(headers["content-type"]) || MEDIA_TYPES.json;
  if (type === MEDIA_TYPES.ssz) {
    return format === "ssz" ? undefined : `${upstream} answered with SSZ to a request for JSON.`;
  }
  if (isHtml({ headers })) return `${upstream} answered with an HTML page instead of a Beacon API response.`;
  if (type === "text/event-stream") return `${upstream} answered with an event stream.`;
  if (!Buffer.isBuffer(body) || looksLikeJson(body)) return undefined;
  return `${upstream} answered with invalid JSON.`;
}

/** Checks only the first and last character. */
function looksLikeJson(body: Buffer): boolean {
  const start = skipSpace(body, 0);
  const last = skipSpaceBack(body, body.length - 1);
  const edges = String.fromCharCode(body[start] ?? 0, body[last] ?? 0);
  return edges === "{}" || edges === "[]" || SCALAR_EDGES.test(edges);
}

/** A string, a number, true, false or null. */
const SCALAR_EDGES = /^(?:""|[-\d]\d|[tf]e|nl)$/;

/** Returns why a 2xx response does not acknowledge a submission, or undefined. */
export function unacknowledgedReason({ upstream, status, headers, body }: UpstreamResponse): string | undefined {
  if (status >= 300) return undefined;
  if (isHtml({ headers })) return `${upstream} answered with an HTML page instead of a Beacon API response.`;
  if (!Buffer.isBuffer(body)) return `${upstream} answered a submission with a large body.`;
  if (body.length === 0) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    return `${upstream} answered with invalid JSON.`;
  }
  if (isAcknowledgement(value)) return undefined;
  const { message } = parseErrorBody({ headers, body });
  return `${upstream} answered with HTTP status ${status}, but its body reports a problem${message && `: ${message}`}.`;
}

/** True for a value without content, and for an object that reports no error. Nimbus sends `code` and `message`. */
function isAcknowledgement(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === null || value === true || value === "";
  if (Array.isArray(value)) return value.length === 0;
  const { code, status, statusCode, message, title, error, errors, failures } = value as Record<string, unknown>;
  if ([error, errors, failures].some(hasContent)) return false;
  const codes = [code, status, statusCode].filter((each) => each !== undefined);
  if (codes.length === 0) return !hasContent(message) && !hasContent(title);
  return codes.every((each) => /^2\d\d$/.test(String(each)));
}

function hasContent(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** True if an upstream certainly did not accept a submission, but another one may. */
export function isNotAccepted(response: UpstreamResponse): boolean {
  const { status } = response;
  return NOT_ACCEPTED.has(status) || REJECTS_GATEWAY.has(status) || isUnsupportedOperation(response);
}

/** Too large for a proxy, unknown path, or not ready. */
const NOT_ACCEPTED: ReadonlySet<number> = new Set([404, 413, 503]);
