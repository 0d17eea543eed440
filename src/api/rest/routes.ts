import { encodeJson } from "../../json/encode.ts";
import type { RestAnswer, RestRequest, RestRoute, RouteTable } from "../../server/rest/route-table.ts";
import type { BoundMethod, BoundMethods } from "../bound-methods.ts";
import { failingAsCall } from "../chain-failures.ts";
import type { RestPath } from "../definition.ts";
import type { Response } from "../encoding.ts";
import { dataAnswer, sszAnswer, transformedAnswer } from "./answer.ts";
import { parseJson, RequestReader, textOf } from "./request.ts";

/** Everything that REST answers: every path of every method. */
export function createRouteTable({ all }: BoundMethods): RouteTable {
  const routes = all.flatMap((method) => method.definition.rest.map((path) => createRoute(method, path)));
  const seen = new Set<string>();
  for (const { verb, path } of routes) {
    const address = `${verb} ${path}`;
    if (seen.has(address)) throw new Error(`Two methods are at ${address}; a path stands for one.`);
    seen.add(address);
  }
  return routes;
}

function createRoute(method: BoundMethod, rest: RestPath): RestRoute {
  const { feed } = method.definition;
  const reader = new RequestReader(method.restParams, rest);
  const { verb, path } = rest;
  if (feed) {
    return {
      verb,
      path,
      answers: [],
      accepts: [],
      handle: async (request) => ({ status: 200, feed: feed(method.context, reader.args(request, undefined)) }),
    };
  }
  if (rest.takesText) {
    return {
      verb,
      path,
      answers: ["json"],
      accepts: [],
      handle: async (request) => dataAnswer(await method.executeJson(reader.args(request, textOf(request))), request),
    };
  }
  const isCurrent = rest === method.definition.rest[0];
  return {
    verb,
    path,
    answers: answersOf(method),
    accepts: reader.bodyParam ? acceptsOf(method, isCurrent) : [],
    bodyOptional: method.definition.access === "read",
    async handle(request) {
      if (isCurrent) reader.requireHeaders(request);
      return handle(method, reader, request);
    },
  };
}

/** Only operations of the standard have an SSZ form, and not all of them. */
function answersOf({ codec, definition }: BoundMethod): RestRoute["answers"] {
  if (codec?.isEmpty) return [];
  const hasSsz = codec !== undefined && definition.operation !== undefined && codec.onlySupport === undefined;
  return hasSsz ? ["json", "ssz"] : ["json"];
}

/** SSZ is read by the fork that a header names, which earlier versions did not have. */
function acceptsOf({ requestCodec }: BoundMethod, isCurrent: boolean): RestRoute["accepts"] {
  const readsSsz = isCurrent && requestCodec?.parseReqSsz !== undefined && requestCodec.onlySupport === undefined;
  return readsSsz ? ["json", "ssz"] : ["json"];
}

async function handle(method: BoundMethod, reader: RequestReader, request: RestRequest): Promise<RestAnswer> {
  const isSubmission = method.definition.access !== "read";
  // A client that has nothing to submit may say so; a call of the method has to hold something.
  if (isSubmission && reader.takesList && request.bodyFormat === "json" && isEmptyList(request.body)) {
    return { status: 200 };
  }
  return answer(method, readArgs(method, reader, request), request);
}

function readArgs(method: BoundMethod, reader: RequestReader, request: RestRequest): Record<string, unknown> {
  if (!reader.bodyParam) return reader.args(request, undefined);
  if (request.bodyFormat === "ssz") return reader.sszArgs(request, method.requestCodec!);
  const mayBeLeftOut = method.definition.access === "read";
  const body = mayBeLeftOut && !request.body?.length ? null : parseJson(request.body ?? Buffer.alloc(0));
  return reader.args(request, mayBeLeftOut ? (body ?? reader.bodyParam.whenNoBody) : body);
}

/** In the form that the caller asked for. */
const answer = failingAsCall(answerAs);

async function answerAs(
  { definition, context, codec, executeJson }: BoundMethod,
  args: Record<string, unknown>,
  request: RestRequest,
): Promise<RestAnswer> {
  const respond = async () => (await definition.handler!(context, args)) as Response | undefined;
  if (codec?.isEmpty) return { status: (await respond())?.status ?? 200 };
  if (request.format === "ssz") {
    const response = definition.ssz ? await definition.ssz(context, args) : await respond();
    return sszAnswer(codec!, response!, request);
  }
  if (definition.restStatusOf) {
    const result = await respond();
    const whole = dataAnswer({ body: encodeJson(result) }, request);
    return { ...whole, status: definition.restStatusOf(result) };
  }
  if (codec?.transform) return transformedAnswer(codec, (await respond())!, request);
  return dataAnswer(await executeJson(args), request);
}

function isEmptyList(body: Buffer | undefined): boolean {
  return body !== undefined && body.length < 100 && /^\s*\[\s*\]\s*$/.test(body.toString());
}
