import { ForkSeq } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import { unsupported } from "../../errors/failure.ts";
import { encodeJson } from "../../json/encode.ts";
import { isReadOnly } from "../../server/access-class.ts";
import type { RestAnswer, RestRequest, RestRoute, RouteTable } from "../../server/rest/route-table.ts";
import type { Args } from "../bind.ts";
import { type BoundMethod, type BoundMethods, Call } from "../bound-methods.ts";
import { failingAsCall } from "../chain-failures.ts";
import type { RestPath } from "../definition.ts";
import type { Response } from "../encoding.ts";
import { answerAboutState, dataAnswer, sszAnswer, transformedAnswer } from "./answer.ts";
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
  const { access } = method.definition;
  if (feed) {
    return {
      method: method.name,
      verb,
      path,
      access,
      answers: [],
      accepts: [],
      handle: async (request) => ({ status: 200, feed: feed(method.context, await reader.args(request, undefined)) }),
    };
  }
  if (rest.takesText) {
    return {
      method: method.name,
      verb,
      path,
      access,
      answers: ["json"],
      accepts: [],
      handle: async (request) =>
        dataAnswer(await method.executeJson(await reader.args(request, await textOf(request))), request),
    };
  }
  const isCurrent = rest === method.definition.rest[0];
  return {
    method: method.name,
    verb,
    path,
    access,
    isProbe: method.definition.isProbe,
    answers: method.codec?.isEmpty ? [] : formatsOf(rest, "answer"),
    prefersFirst: rest.prefersJson,
    accepts: reader.bodyParam ? formatsOf(rest, "body") : [],
    bodyOptional: isReadOnly(access),
    takesLargeBody: verb === "POST",
    elementOf: method.elementOf,
    isCacheable: verb === "GET" && method.isCacheable,
    cachePolicy: ({ params, query }) =>
      method.cachePolicy?.(query === "" ? params : { ...params, ...Object.fromEntries(new URLSearchParams(query)) }),
    async handle(request) {
      if (isCurrent) reader.requireHeaders(request);
      const reading = readArgs(method, reader, request);
      const args = reading instanceof Promise ? await reading : reading;
      requireServed(method, rest, args);
      return answerAboutState(method.context, request, () =>
        method.inTurn(args, request.waiting, () => answer(method, args, request)),
      );
    },
  };
}

function formatsOf({ ssz }: RestPath, what: RestPath["ssz"]): RestRoute["answers"] {
  return ssz === what ? ["json", "ssz"] : ["json"];
}

/** There is a promise only where there is a body, or a long list. */
function readArgs(method: BoundMethod, reader: RequestReader, request: RestRequest): Args | Promise<Args> {
  return reader.bodyParam ? readWithBody(method, reader, request) : reader.args(request, undefined);
}

async function readWithBody(method: BoundMethod, reader: RequestReader, request: RestRequest): Promise<Args> {
  if (request.bodyFormat === "ssz") return reader.sszArgs(request, method.requestCodec!, method.context.chain.config);
  const isLeftOut = isReadOnly(method.definition.access) && !request.body?.length;
  const body = isLeftOut ? reader.bodyParam!.whenNoBody : await parseJson(request.body ?? Buffer.alloc(0));
  return reader.args(request, body);
}

function requireServed({ context }: BoundMethod, { verb, path, until }: RestPath, args: Args): void {
  if (until === undefined) return;
  const { config } = context.chain;
  const slot = args.slot as Slot;
  if (config.getForkSeq(slot) < ForkSeq[until.fork]) return;
  throw unsupported(
    `${verb} ${path} is for slots before ${until.fork}, and slot ${slot} is of ${config.getForkName(slot)}: use ${until.successor}.`,
  );
}

/** In the form that the caller asked for. */
const answer = failingAsCall(async (method: BoundMethod, args: Args, request: RestRequest): Promise<RestAnswer> => {
  const answered = await answerAs(method, args, request);
  return method.definition.mayGrow ? { ...answered, lasting: "never" } : answered;
});

async function answerAs(
  { definition, context, codec, executeJson, executeSsz }: BoundMethod,
  args: Record<string, unknown>,
  request: RestRequest,
): Promise<RestAnswer> {
  const call = new Call(undefined, request.waiting);
  const respond = async () => (await definition.handler!(context, args, call)) as Response | undefined;
  if (codec?.isEmpty) return { status: (await respond())?.status ?? 200 };
  if (request.format === "ssz") return sszAnswer(await executeSsz(args, call), request);
  if (definition.restStatusOf) {
    const result = await respond();
    const whole = dataAnswer({ body: encodeJson(result) }, request);
    return { ...whole, status: definition.restStatusOf(result) };
  }
  if (codec?.transform) return transformedAnswer(codec, (await respond())!, request);
  return dataAnswer(await executeJson(args, call), request);
}
