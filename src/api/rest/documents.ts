import { encodeJson } from "../../json/encode.ts";
import { VERSION } from "../../runtime/version.ts";
import type { RestRoute } from "../../server/rest/route-table.ts";
import type { MethodGroup } from "../openrpc.ts";
import { openApiDocument } from "./openapi.ts";

const OPENAPI_PATH = "/fanal/v1/openapi.json";

/**
 * Creates the routes for documents about the REST API: an index at `/`, and the OpenAPI document for all other routes.
 */
export function documentRoutes(groups: () => readonly MethodGroup[]): RestRoute[] {
  const index = encodeJson({ name: "Fanal", version: VERSION, api: "beacon", openapi: OPENAPI_PATH });
  let openApi: Buffer | undefined;
  return [
    documentRoute("/", () => index),
    documentRoute(OPENAPI_PATH, () => {
      openApi ??= encodeJson(openApiDocument(groups(), VERSION));
      return openApi;
    }),
  ];
}

function documentRoute(path: string, body: () => Buffer): RestRoute {
  return {
    method: path,
    verb: "GET",
    path,
    access: "read",
    responseFormats: ["json"],
    accepts: [],
    handle: async () => ({
      status: 200,
      content: { format: "json", parts: [body()] },
      cacheLifetime: "while-unchanged",
    }),
  };
}
