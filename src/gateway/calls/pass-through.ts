import type { Method, RestPath } from "../../api/definition.ts";
import { placesOf } from "../../api/rest/places.ts";
import { isReadOnly } from "../../server/access-class.ts";
import { type Format, MEDIA_TYPES, mediaTypeOf } from "../../server/http/negotiation.ts";
import { errorBody } from "../../server/http/refusal.ts";
import type { Lasting, RestAnswer, RestRequest, RestRoute } from "../../server/rest/route-table.ts";
import type { Question, UpstreamResponse } from "../exchange.ts";
import { isRefusal, type Refusal, readComplaint } from "../upstream/complaint.ts";
import { mayHaveBeenTaken, OUTCOME_UNKNOWN } from "../upstream/submission.ts";
import { isAnsweredByStatus, originOf, standardHeaders } from "./answers.ts";
import { requirePlain, type TwinRequest } from "./rest-twin.ts";

/** What a server has to know of a path to refuse what no node takes there, before anybody is asked. */
export function routeFormats(
  method: Method,
  rest: RestPath,
): Pick<RestRoute, "answers" | "prefersFirst" | "accepts" | "bodyOptional" | "takesLargeBody"> {
  const formats = (what: RestPath["ssz"]): Format[] => (rest.ssz === what ? ["json", "ssz"] : ["json"]);
  const hasBody = placesOf(method.restParams, rest).some(({ from }) => from === "body");
  return {
    answers: isAnsweredByStatus(method) ? [] : formats("answer"),
    prefersFirst: rest.prefersJson,
    accepts: hasBody && !rest.takesText ? formats("body") : [],
    bodyOptional: isReadOnly(method.access),
    takesLargeBody: rest.verb === "POST" && !rest.takesText,
  };
}

/** Makes of the requests of clients to a path what an upstream gets at `asked`, the same path unless it is given. */
export function passedRequests(
  method: Method,
  rest: RestPath,
  asked = rest.path,
): (request: RestRequest, format?: Format) => TwinRequest & Pick<Question, "format"> {
  const places = placesOf(method.restParams, rest);
  const inQuery = new Set(places.flatMap(({ param, from }) => (from === "query" ? [param.name] : [])));
  return (request, format = request.format ?? "json") => {
    const { body, query } = request;
    const headers: Record<string, string> = { accept: MEDIA_TYPES[format] };
    if (body?.length) {
      // To read it is to refuse a type that the path does not take.
      const contentType =
        request.bodyFormat === undefined ? request.headers["content-type"] : MEDIA_TYPES[request.bodyFormat];
      if (contentType !== undefined) headers["content-type"] = contentType;
    }
    for (const name in request.headers) {
      const value = request.headers[name];
      if (name.startsWith("eth-") && value !== undefined) headers[name] = value;
    }
    const params: Record<string, string> = { ...request.params };
    // The URL of the client may name another host, and has perhaps more in it than the server took for the path.
    let url = asked;
    for (const name in params) {
      requirePlain(name, params[name]!);
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

/** Of what is kept in memory, and so is the same object every time it is given, what was made of it. */
const keptAnswers = new WeakMap<UpstreamResponse, RestAnswer>();

/** The answer of an upstream as a client gets it. */
export function passedAnswer(method: Method, response: UpstreamResponse): RestAnswer {
  if (response.kept !== "memory") return newAnswer(method, response);
  const made = keptAnswers.get(response) ?? newAnswer(method, response);
  keptAnswers.set(response, made);
  return made;
}

function newAnswer(method: Method, response: UpstreamResponse): RestAnswer {
  const { status, body, headers } = response;
  const answer = { status, headers: { ...originOf(response), ...standardHeaders(response) } };
  if (isRefusal(response)) return { ...answer, content: { format: "json", parts: [refusalBody(method, response)] } };
  // An empty body may be an answer, too: that of an empty list in SSZ.
  if (Buffer.isBuffer(body) && body.length === 0 && headers["content-type"] === undefined) return answer;
  const format = mediaTypeOf(headers["content-type"]) === MEDIA_TYPES.ssz ? "ssz" : "json";
  const lasting = lastingOf(headers["cache-control"]);
  return { ...answer, content: { format, parts: [body] }, lasting, ...(lasting !== "never" && { tag: headers.etag }) };
}

function lastingOf(cacheControl = ""): Lasting {
  if (/\bimmutable\b/.test(cacheControl)) return "forever";
  return /\bno-cache\b/.test(cacheControl) ? "while-unchanged" : "never";
}

/** Errors are JSON, also those of something between here and a node. */
function refusalBody(method: Method, response: Refusal): Buffer {
  const { upstream, status, headers, body } = response;
  if (mediaTypeOf(headers["content-type"]) === MEDIA_TYPES.json) return body;
  const said = readComplaint(response).message || `The upstream ${upstream} answered with the status ${status}.`;
  return errorBody(status, mayHaveBeenTaken(method, response) ? `${said} ${OUTCOME_UNKNOWN}` : said);
}
