import { MEDIA_TYPES, mediaTypeOf } from "../../server/http/negotiation.ts";
import type { Question, UpstreamResponse } from "../exchange.ts";
import { isPage, lacksOperation } from "./complaint.ts";

/**
 * What is made of an answer to a read. `given`: it is the answer. `questionable`: it is, unless another upstream knows
 * better, who is asked once. `failed`: it is no answer as long as there is anybody else to ask. `lacking`: its client does not
 * offer the operation, which says nothing of what is asked for.
 */
export type Verdict = "given" | "questionable" | "failed" | "lacking";

/** Not here, or not so: it may have pruned it or not seen it yet, or take less than others. */
const QUESTIONABLE: ReadonlySet<number> = new Set([400, 404, 413, 414]);
/** The upstream refuses the gateway, not the caller. */
const REFUSES_GATEWAY: ReadonlySet<number> = new Set([401, 403, 408, 429]);

export function verdictOn(response: UpstreamResponse, { method }: Pick<Question, "method">): Verdict {
  const { status } = response;
  if (status < 400) return "given";
  // The health of a node is told by the status.
  if (method.restStatusOf !== undefined || method.resultOfStatus !== undefined) return "given";
  if (lacksOperation(response)) return "lacking";
  if (status >= 500 || REFUSES_GATEWAY.has(status) || isPage(response)) return "failed";
  return QUESTIONABLE.has(status) ? "questionable" : "given";
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

/** Whether it begins and ends as JSON does. */
function isJsonOutside(body: Buffer): boolean {
  let begin = 0;
  while (body[begin]! <= SPACE) begin++;
  let end = body.length;
  while (end > begin && body[end - 1]! <= SPACE) end--;
  const edges = String.fromCharCode(body[begin] ?? 0, body[end - 1] ?? 0);
  return edges === "{}" || edges === "[]" || SCALAR_EDGES.test(edges);
}

const SPACE = 0x20;
/** A text, a number, true, false or null. */
const SCALAR_EDGES = /^(?:""|[-\d]\d|[tf]e|nl)$/;

/** Whether an upstream says that it has not taken what was submitted, though another may. */
export function isNotTaken(response: UpstreamResponse): boolean {
  const { status } = response;
  return NOT_TAKEN.has(status) || REFUSES_GATEWAY.has(status) || lacksOperation(response);
}

/** It is too large for what stands before the node, or there is no such path, or the node is not ready. */
const NOT_TAKEN: ReadonlySet<number> = new Set([404, 413, 503]);
