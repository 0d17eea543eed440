import { ForkSeq } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import { unsupported } from "../../errors/failure.ts";
import { encodeJson } from "../../json/encode.ts";
import { isReadOnly } from "../../server/access-class.ts";
import type { RestRequest, RestResponse, RestRoute, RouteTable } from "../../server/rest/route-table.ts";
import type { Args } from "../bind.ts";
import { type BoundMethod, type BoundMethods, LazyCallContext } from "../bound-methods.ts";
import { withFailures } from "../chain-failures.ts";
import type { RestPath } from "../definition.ts";
import type { HandlerResponse } from "../encoding.ts";
import { parseJson, parseText, RequestParser } from "./request.ts";
import { dataResponse, sszResponse, stateResponse, transformedResponse } from "./response.ts";

/** Creates the REST routes of all methods. */
export function createRouteTable({ all }: BoundMethods): RouteTable {
  const routes = all.flatMap((method) => method.definition.rest.map((path) => createRoute(method, path)));
  const seen = new Set<string>();
  for (const { verb, path } of routes) {
    const address = `${verb} ${path}`;
    if (seen.has(address)) throw new Error(`Duplicate route: ${address}`);
    seen.add(address);
  }
  return routes;
}

function createRoute(method: BoundMethod, rest: RestPath): RestRoute {
  const { feed } = method.definition;
  const reader = new RequestParser(method.restParams, rest);
  const { verb, path } = rest;
  const { access } = method.definition;
  if (feed) {
    return {
      method: method.name,
      verb,
      path,
      access,
      responseFormats: [],
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
      responseFormats: ["json"],
      accepts: [],
      handle: async (request) =>
        dataResponse(await method.executeJson(await reader.args(request, await parseText(request))), request),
    };
  }
  const isCurrent = rest === method.definition.rest[0];
  return {
    method: method.name,
    verb,
    path,
    access,
    isProbe: method.definition.isProbe,
    responseFormats: method.codec?.isEmpty ? [] : formatsOf(rest, "response"),
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
      return stateResponse(method.context, request, () =>
        method.schedule(args, request.cancellation, () => respondTo(method, args, request)),
      );
    },
  };
}

function formatsOf({ ssz }: RestPath, what: RestPath["ssz"]): RestRoute["responseFormats"] {
  return ssz === what ? ["json", "ssz"] : ["json"];
}

/** Parses the arguments of a request. Returns a promise only with a body or a long list. */
function readArgs(method: BoundMethod, reader: RequestParser, request: RestRequest): Args | Promise<Args> {
  return reader.bodyParam ? readWithBody(method, reader, request) : reader.args(request, undefined);
}

async function readWithBody(method: BoundMethod, reader: RequestParser, request: RestRequest): Promise<Args> {
  if (request.bodyFormat === "ssz") return reader.sszArgs(request, method.requestCodec!, method.context.chain.config);
  const isLeftOut = isReadOnly(method.definition.access) && !request.body?.length;
  const body = isLeftOut ? reader.bodyParam!.defaultBody : await parseJson(request.body ?? Buffer.alloc(0));
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

/** Calls the method and encodes its response in the negotiated format. */
const respondTo = withFailures(async (method: BoundMethod, args: Args, request: RestRequest): Promise<RestResponse> => {
  const response = await encodeAs(method, args, request);
  return method.definition.growsAfterFinality ? { ...response, cacheLifetime: "never" } : response;
});

async function encodeAs(
  { definition, context, codec, executeJson, executeSsz }: BoundMethod,
  args: Record<string, unknown>,
  request: RestRequest,
): Promise<RestResponse> {
  const call = new LazyCallContext(undefined, request.cancellation);
  const respond = async () => (await definition.handler!(context, args, call)) as HandlerResponse | undefined;
  if (codec?.isEmpty) return { status: (await respond())?.status ?? 200 };
  if (request.format === "ssz") return sszResponse(await executeSsz(args, call), request);
  if (definition.restStatusOf) {
    const result = await respond();
    const whole = dataResponse({ body: encodeJson(result) }, request);
    return { ...whole, status: definition.restStatusOf(result) };
  }
  if (codec?.transform) return transformedResponse(codec, (await respond())!, request);
  return dataResponse(await executeJson(args, call), request);
}
