import { routes } from "@lodestar/api";
import type { ChainForkConfig } from "@lodestar/config";
import type { Api } from "../../api/api.ts";
import { besideData, type HandlerResponse, type Operation } from "../../api/operation.ts";
import { invalidParams } from "../../failure.ts";
import { encodeJson } from "../../json/encode.ts";
import type { Format } from "../../server/http/negotiation.ts";
import type { Method, MethodTable } from "../../server/method-table.ts";
import type { RestAnswer, RestRequest, RestRoute } from "../../server/rest/route-table.ts";
import type { Entry } from "../entry.ts";
import { dataAnswer, lastingOf } from "./answer.ts";
import { type Definition, requestTypes } from "./definition.ts";
import { submit } from "./method-call.ts";
import { readRequest } from "./read-request.ts";
import { requireNamedVersion } from "./version-check.ts";

type Handler = (
  args: unknown,
  context: { sszBytes: Uint8Array | null; returnBytes: boolean },
) => Promise<HandlerResponse<unknown, unknown>>;

interface Implementation {
  handler: Handler;
  /** The handler with the encoder that both doors use. */
  operation: Operation<unknown> | undefined;
  /** The method that does the same. */
  entry: Entry | undefined;
  method: Method | undefined;
}

/** Every operation of the standard that has a handler. */
export function standardRoutes(api: Api, entries: readonly Entry[], methods: MethodTable): RestRoute[] {
  const handlers = api as unknown as Record<string, Record<string, Handler> | undefined>;
  const operations = api.operations as unknown as Record<string, Record<string, Operation<unknown>> | undefined>;
  return FAMILIES.flatMap((family) => {
    const definitions = routes[family].getDefinitions(api.chainConfig) as unknown as Record<string, Definition>;
    return Object.entries(definitions).flatMap(([name, definition]) => {
      const called = VARIANTS[name] ?? name;
      const handler = handlers[family]?.[called];
      if (!handler) return [];
      const operation = operations[family]?.[called];
      const entry = entries.find(({ rest }) => rest?.verb === definition.method && rest.path === definition.url);
      const implementation = { handler, operation, entry, method: entry && methods.find(entry.name) };
      return [standardRoute(name, definition, implementation, api.chainConfig)];
    });
  });
}

/** Handlers that take more than the vocabulary can say. */
const VARIANTS: Record<string, string> = { produceBlockV3: "produceBlockV3Of" };

const VERSION_HEADER = "Eth-Consensus-Version";

const FAMILIES = ["beacon", "lightclient", "validator", "node", "config", "debug"] as const;

function standardRoute(
  name: string,
  definition: Definition,
  { handler, operation, entry, method }: Implementation,
  config: ChainForkConfig,
): RestRoute {
  const types = requestTypes(definition);
  const takesList = types.body?.content["application/json"]?.schema.type === "array";
  const { req, resp } = definition;

  async function handle(request: RestRequest): Promise<RestAnswer> {
    const { format } = request;
    const version = request.headers["eth-consensus-version"];
    if (types.headers && VERSION_HEADER in types.headers.properties && version === undefined) {
      throw invalidParams(`The header ${VERSION_HEADER} is missing.`);
    }
    // A method reads JSON more strictly than the codecs do, which rely on a schema before them.
    if (entry?.submission && method && request.bodyFormat === "json") {
      return submit(entry, definition.url, method, request, takesList);
    }
    const { args, sszBytes } = readRequest(name, definition, types, request);
    if (sszBytes) requireNamedVersion(name, config, version, args);
    if (format === "json" && operation && !resp.transform) return dataAnswer(await operation(args), request);

    const { status = 200, data, meta } = (await handler(args, { sszBytes, returnBytes: format === "ssz" })) ?? {};
    // 204 says that there is nothing to send.
    if (format === undefined || status === 204) return { status };
    const beside = besideData(resp.meta, meta);
    const body = format === "ssz" ? sszBody(definition, data, meta) : jsonBody(definition, data, meta);
    return {
      status,
      headers: beside.headers,
      content: { format, parts: [body] },
      lasting: lastingOf(request, beside.meta),
    };
  }

  return {
    verb: definition.method,
    path: definition.url,
    answers: resp.isEmpty ? [] : formatsOf(resp),
    accepts: definition.method === "POST" ? formatsOf(req) : [],
    // A method wants something to be submitted.
    bodyOptional: !(entry?.submission && method),
    handle,
  };
}

const formatsOf = ({ onlySupport }: { onlySupport?: string }): Format[] =>
  onlySupport === undefined ? ["json", "ssz"] : [onlySupport as Format];

function sszBody({ resp }: Definition, data: unknown, meta: unknown): Buffer {
  const bytes = data instanceof Uint8Array ? data : resp.data.serialize(data, meta);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function jsonBody({ resp }: Definition, data: unknown, meta: unknown): Buffer {
  const dataJson = resp.data.toJson(data, meta);
  const metaJson = resp.meta.toJson(meta);
  return encodeJson(
    resp.transform ? resp.transform.toResponse(dataJson, metaJson) : { data: dataJson, ...(metaJson as object) },
  );
}
