import { invalidParams, rejected, unavailable } from "../../../../src/errors/failure.ts";
import type { AccessClass } from "../../../../src/server/access-class.ts";
import { HttpError } from "../../../../src/server/http/http-error.ts";
import { entityTag, matchesTag } from "../../../../src/server/http/response/entity-tag.ts";
import { queryOf } from "../../../../src/server/rest/request.ts";
import type { CacheLifetime, RestRequest, RestResponse, RestRoute } from "../../../../src/server/rest/route-table.ts";
import { createRestServer, type RestServerOptions } from "../../../../src/server/rest/server.ts";
import { createRecordingLogger, type LogRecord } from "../../log/recording-logger.ts";
import { type RequestInit, send, streamOf } from "../http/http.ts";

type Handle = (request: RestRequest) => Promise<RestResponse>;

export function json(value: unknown, cacheLifetime?: CacheLifetime): RestResponse {
  return {
    status: 200,
    content: { format: "json", parts: [Buffer.from(JSON.stringify(value))] },
    cacheLifetime,
  };
}

const streamed = (...chunks: string[]): RestResponse => ({
  status: 200,
  content: { format: "json", parts: [Buffer.from('{"data":'), streamOf(...chunks), Buffer.from("}")] },
});

async function* broken(...chunks: string[]): AsyncGenerator<Buffer> {
  yield* streamOf(...chunks);
  throw unavailable("The stream broke.");
}

export const LARGE = "x".repeat(200_000);

const HANDLERS: Record<string, Handle> = {
  "GET /echo/{name}": async ({ params, url, headers }) =>
    json({ params, query: queryOf({ url }), accept: headers.accept }),
  "POST /echo/{name}": async ({ params, body }) => json({ params, body: body?.toString() ?? null }),
  "GET /empty": async () => ({ status: 206, headers: { "Eth-Consensus-Version": "deneb" } }),
  "GET /invalid": async () => Promise.reject(invalidParams("It is wrong.")),
  "GET /rejected": async () => Promise.reject(rejected("Rejected.", { failures: [{ index: 1, message: "No." }] })),
  "GET /refused": async () => Promise.reject(new HttpError(406, "Not this.")),
  "GET /crash": async () => Promise.reject(new Error("a secret of the node")),
  "GET /never": () => new Promise(() => {}),
  "GET /large": async () => json(LARGE),
  "GET /stream": async () => streamed("[1,", "", "2]"),
  "GET /broken-early": async () => ({ status: 200, content: { format: "json", parts: [broken()] } }),
  "GET /broken-late": async () => ({ status: 200, content: { format: "json", parts: [broken("[1,")] } }),
  "GET /unchanged": async () => json("same", "while-unchanged"),
  "POST /unchanged": async () => json("same", "while-unchanged"),
  "GET /stream-of/{source}": async (request) => {
    const tag = entityTag(request.params.source!);
    if (matchesTag(request.headers["if-none-match"], tag)) return { status: 304, cacheLifetime: "forever", tag };
    return { ...streamed("[1,", "2]"), cacheLifetime: "forever", tag };
  },
  "GET /forever": async () => json(LARGE, "forever"),
};

interface TestServerOptions extends Partial<Omit<RestServerOptions, "table" | "logger">> {
  handlers?: Record<string, Handle>;
  /** Access classes of handlers that are not `read`. */
  classes?: Record<string, AccessClass>;
  /** Additional routes with content negotiation. */
  routes?: RestRoute[];
  port?: number;
}

/** Opens a REST server with test routes. */
export async function openTestServer(testOptions: TestServerOptions = {}) {
  const { handlers = {}, classes = {}, routes = [], port = 0, ...options } = testOptions;
  const log: LogRecord[] = [];
  const table: RestRoute[] = Object.entries({ ...HANDLERS, ...handlers }).map(([key, handle]) => {
    const [verb, path] = key.split(" ") as [RestRoute["verb"], string];
    return { method: key, verb, path, access: classes[key] ?? "read", responseFormats: [], accepts: [], handle };
  });
  const server = createRestServer({ ...options, table: [...table, ...routes], logger: createRecordingLogger(log) });
  const { url, port: bound } = await server.listen({ host: "127.0.0.1", port });
  return {
    url,
    port: bound,
    log,
    close: () => server.close(),
    load: () => server.load(),
    ask: (path: string, init?: RequestInit) => send(url, { path, ...init }),
  };
}

export type TestServer = Awaited<ReturnType<typeof openTestServer>>;
