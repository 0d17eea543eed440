import type { routes } from "@lodestar/api";
import { createFastifyRoute } from "@lodestar/api/server";
import type { ParamType } from "./param-forms.ts";

/** What a codec of a route definition gets: parameters as values, headers by lower case name. */
export interface CodecRequest {
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  headers: Record<string, string | undefined>;
  body?: unknown;
}

type Reader = (request: CodecRequest) => unknown;

/** A route definition of @lodestar/api, without the types that tell one from another. */
export interface Definition {
  url: string;
  method: "GET" | "POST";
  req: { parseReq?: Reader; parseReqJson?: Reader; parseReqSsz?: Reader; schema: object; onlySupport?: string };
  resp: {
    data: {
      toJson(data: unknown, meta: unknown): unknown;
      serialize(data: unknown, meta: unknown): Uint8Array;
    };
    meta: { toJson(meta: unknown): unknown; toHeadersObject(meta: unknown): Record<string, string> };
    transform?: { toResponse(data: unknown, meta: unknown): unknown };
    isEmpty?: true;
    onlySupport?: string;
  };
}

export interface ParamTypes {
  required: string[];
  properties: Record<string, ParamType>;
}

/** The parameters of a route, and the type of its body. */
export interface RequestTypes {
  params?: ParamTypes;
  querystring?: ParamTypes;
  headers?: ParamTypes;
  body?: { content: Record<string, { schema: ParamType }> };
}

type AnyDefinitions = ReturnType<(typeof routes)["node"]["getDefinitions"]>;

export function requestTypes(definition: Definition): RequestTypes {
  // The server that @lodestar/api would make of a definition is not used; its description of the request is.
  const route = createFastifyRoute(definition as unknown as AnyDefinitions["getHealth"], async () => ({}) as never, "");
  return route.schema as RequestTypes;
}
