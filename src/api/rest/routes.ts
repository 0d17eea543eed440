import { ForkSeq } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import { unsupported } from "../../errors/failure.ts";
import { encodeJson } from "../../json/encode.ts";
import { isReadOnly } from "../../server/access-class.ts";
import { bodyFormatOf, queryOf } from "../../server/rest/request.ts";
import type { RestRequest, RestRoute, RouteTable } from "../../server/rest/route-table.ts";
import type { Args } from "../bind.ts";
import type { BoundMethod, BoundMethods } from "../bound-methods.ts";
import { LazyCallContext } from "../call-context.ts";
import { withFailures } from "../chain-failures.ts";
import { allowsSsz, type RestPath } from "../definition.ts";
import type { HandlerResponse } from "../encoding.ts";
import { type EncodedResponse, withCaching } from "./caching.ts";
import { parseJson, parseText, RequestParser } from "./request.ts";
import { dataResponse, sszResponse, transformedResponse } from "./response.ts";

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
        dataResponse(await method.executeJson(await reader.args(request, await parseText(request)))),
    };
  }
  const isCurrent = rest === method.definition.rest[0];
  const mayBeCached = verb === "GET" && !method.definition.growsAfterFinality;
  const route: RestRoute = {
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
    cachePolicy: (request) => {
      const query = queryOf(request);
      const { params } = request;
      return method.cachePolicy?.(
        query === "" ? params : { ...params, ...Object.fromEntries(new URLSearchParams(query)) },
      );
    },
    async handle(request) {
      if (isCurrent) reader.requireHeaders(request);
      const reading = readArgs(method, reader, route, request);
      const args = reading instanceof Promise ? await reading : reading;
      requireServed(method, rest, args);
      const encode = () => method.schedule(args, request.cancellation, () => respondTo(method, args, request));
      return mayBeCached ? withCaching(method.context, request, encode) : (await encode()).response;
    },
  };
  return route;
}

function formatsOf(path: RestPath, part: "response" | "body"): RestRoute["responseFormats"] {
  return allowsSsz(path, part) ? ["json", "ssz"] : ["json"];
}

/** Parses the arguments of a request. Returns a promise only if there is a body or a long list. */
function readArgs(
  method: BoundMethod,
  reader: RequestParser,
  route: RestRoute,
  request: RestRequest,
): Args | Promise<Args> {
  return reader.bodyParam ? readWithBody(method, reader, route, request) : reader.args(request, undefined);
}

async function readWithBody(
  method: BoundMethod,
  reader: RequestParser,
  route: RestRoute,
  request: RestRequest,
): Promise<Args> {
  if (bodyFormatOf(route, request) === "ssz")
    return reader.sszArgs(request, method.requestCodec!, method.context.chain.config);
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
const respondTo = withFailures(
  async (
    { definition, context, codec, executeJson, executeSsz }: BoundMethod,
    args: Args,
    request: RestRequest,
  ): Promise<EncodedResponse> => {
    const call = new LazyCallContext(undefined, request.cancellation);
    const respond = async () => (await definition.handler!(context, args, call)) as HandlerResponse | undefined;
    if (codec?.isEmpty) return { response: { status: (await respond())?.status ?? 200 } };
    if (request.format === "ssz") {
      const encoded = await executeSsz(args, call);
      return { response: sszResponse(encoded), meta: encoded.meta };
    }
    if (definition.restStatusOf) {
      const result = await respond();
      const response = dataResponse({ body: encodeJson(result) });
      return { response: { ...response, status: definition.restStatusOf(result) } };
    }
    if (codec?.transform) return transformedResponse(codec, (await respond())!);
    const encoded = await executeJson(args, call);
    return { response: dataResponse(encoded), meta: encoded.meta };
  },
);
