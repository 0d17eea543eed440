import { MEDIA_TYPES, mediaTypeOf } from "../../server/http/negotiation.ts";
import type { Question, UpstreamResponse } from "../exchange.ts";

/**
 * What is made of an answer to a read. `given`: it is the answer. `questionable`: it is, unless another upstream knows
 * better, who is asked once. `failed`: it is no answer as long as there is anybody else to ask.
 */
export type Verdict = "given" | "questionable" | "failed";

/** Not found, or not there, on this upstream: it may have pruned it or not seen it yet, or its client does not offer it. */
const QUESTIONABLE: ReadonlySet<number> = new Set([404, 405, 406, 410, 415, 501]);
/** The upstream refuses the gateway, not the caller. */
const REFUSES_GATEWAY: ReadonlySet<number> = new Set([401, 403, 408, 429]);

/** What Lighthouse says, with the status 400, of an operation that it has in other versions alone. */
const OTHER_VERSION = "Unsupported endpoint version";
const LONGEST_OF_VERSION = 1024;

/** Whether an upstream refuses a request because it does not have that version of an operation. */
export function lacksVersion({ status, body }: { status: number; body: unknown }): boolean {
  return status === 400 && Buffer.isBuffer(body) && body.length <= LONGEST_OF_VERSION && body.includes(OTHER_VERSION);
}

export function verdictOn(response: UpstreamResponse, { method }: Pick<Question, "method">): Verdict {
  const { status } = response;
  if (status < 400) return "given";
  // The health of a node is told by the status.
  if (method.restStatusOf !== undefined || method.resultOfStatus !== undefined) return "given";
  if (QUESTIONABLE.has(status) || lacksVersion(response)) return "questionable";
  if (isPage(response)) return "failed";
  return status >= 500 || REFUSES_GATEWAY.has(status) ? "failed" : "given";
}

/** Why an upstream refuses whoever comes with the credentials of the gateway, which is no answer to its clients. */
export function refusalOfCredentials({ upstream, status }: UpstreamResponse): string | undefined {
  if (status !== 401 && status !== 403) return undefined;
  return `${upstream} refuses the gateway with HTTP status ${status}: look at the credentials that it is given.`;
}

/** What shows without reading the body that it is nothing that the upstream's own server has written, as a sentence. */
export function problemOf(
  { upstream, status, headers, body }: UpstreamResponse,
  { method, format }: Question,
): string | undefined {
  if (status >= 300 || method.resultOfStatus !== undefined) return undefined;
  if (status !== 200) return `${upstream} answered with the HTTP status ${status}, which brings nothing.`;
  const type = mediaTypeOf(headers["content-type"]) || MEDIA_TYPES.json;
  if (type === MEDIA_TYPES.ssz) {
    return format === "ssz" ? undefined : `${upstream} answered with SSZ, which it was not asked for.`;
  }
  if (isPage({ headers })) return `${upstream} answered with a page for browsers.`;
  if (type === "text/event-stream") return `${upstream} answered with a stream of events.`;
  if (!Buffer.isBuffer(body) || isJsonOutside(body)) return undefined;
  return `${upstream} answered with something that is no JSON.`;
}

/** Whether it is something for browsers, which no node writes, but what stands before one. */
export function isPage({ headers }: Pick<UpstreamResponse, "headers">): boolean {
  return mediaTypeOf(headers["content-type"]) === "text/html";
}

/** Whether it begins and ends as JSON does. */
function isJsonOutside(body: Buffer): boolean {
  let end = body.length;
  while (end > 0 && body[end - 1]! <= SPACE) end--;
  const edges = String.fromCharCode(body[0] ?? 0, body[end - 1] ?? 0);
  return edges === "{}" || edges === "[]" || SCALAR_EDGES.test(edges);
}

const SPACE = 0x20;
/** A text, a number, true, false or null. */
const SCALAR_EDGES = /^(?:""|[-\d]\d|[tf]e|nl)$/;

/** Whether an upstream says that it has not taken what was submitted, though another may. */
export function isNotTaken(response: UpstreamResponse): boolean {
  const { status } = response;
  return status === 503 || QUESTIONABLE.has(status) || REFUSES_GATEWAY.has(status) || lacksVersion(response);
}
