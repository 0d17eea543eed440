import { request } from "node:http";
import { invalidParams, rejected, unavailable } from "../../errors.ts";
import { RestRefusal } from "../http/refusal.ts";
import { createRecordingLogger, createSignal, type LogRecord, streamOf } from "../jsonrpc/server.test-support.ts";
import type { Lasting, RestAnswer, RestRequest, RestRoute } from "./route-table.ts";
import { createRestServer, type RestServerOptions } from "./server.ts";

type Handle = (request: RestRequest) => Promise<RestAnswer>;

export const JSON_TYPE = "application/json";

export function json(value: unknown, lasting?: Lasting): RestAnswer {
  return { status: 200, content: { mediaType: JSON_TYPE, parts: [Buffer.from(JSON.stringify(value))] }, lasting };
}

const streamed = (...chunks: string[]): RestAnswer => ({
  status: 200,
  content: { mediaType: JSON_TYPE, parts: [Buffer.from('{"data":'), streamOf(...chunks), Buffer.from("}")] },
});

async function* broken(...chunks: string[]): AsyncGenerator<Buffer> {
  yield* streamOf(...chunks);
  throw unavailable("The stream broke.");
}

export const LARGE = "x".repeat(200_000);

const HANDLERS: Record<string, Handle> = {
  "GET /echo/{name}": async ({ params, query, headers }) => json({ params, query, accept: headers.accept }),
  "POST /echo/{name}": async ({ params, body }) => json({ params, body: body?.toString() ?? null }),
  "GET /empty": async () => ({ status: 206, headers: { "Eth-Consensus-Version": "deneb" } }),
  "GET /invalid": async () => Promise.reject(invalidParams("It is wrong.")),
  "GET /rejected": async () => Promise.reject(rejected("Rejected.", { failures: [{ index: 1, message: "No." }] })),
  "GET /refused": async () => Promise.reject(new RestRefusal(406, "Not this.")),
  "GET /crash": async () => Promise.reject(new Error("a secret of the node")),
  "GET /never": () => new Promise(() => {}),
  "GET /large": async () => json(LARGE),
  "GET /stream": async () => streamed("[1,", "", "2]"),
  "GET /broken-early": async () => ({ status: 200, content: { mediaType: JSON_TYPE, parts: [broken()] } }),
  "GET /broken-late": async () => ({ status: 200, content: { mediaType: JSON_TYPE, parts: [broken("[1,")] } }),
  "GET /unchanged": async () => json("same", "while-unchanged"),
  "GET /forever": async () => json(LARGE, "forever"),
};

interface DoorOptions extends Partial<Omit<RestServerOptions, "table" | "logger">> {
  handlers?: Record<string, Handle>;
  port?: number;
}

export { createSignal };

/** A REST door before a table of made-up routes. */
export async function openRestDoor({ handlers = {}, port = 0, ...options }: DoorOptions = {}) {
  const log: LogRecord[] = [];
  const table: RestRoute[] = Object.entries({ ...HANDLERS, ...handlers }).map(([key, handle]) => {
    const [verb, path] = key.split(" ") as [RestRoute["verb"], string];
    return { verb, path, handle };
  });
  const server = createRestServer({ ...options, table, logger: createRecordingLogger(log) });
  const { url, port: bound } = await server.listen({ host: "127.0.0.1", port });
  return {
    url,
    port: bound,
    log,
    close: () => server.close(),
    ask: (path: string, init?: Asked) => ask(url, path, init),
  };
}

export type RestDoor = Awaited<ReturnType<typeof openRestDoor>>;

export interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export interface Replied {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
  text: string;
}

/** One request on a connection of its own, with nothing added that the test did not ask for. */
export function ask(url: string, path: string, { method = "GET", headers, body }: Asked = {}): Promise<Replied> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, path, headers, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("error", reject);
      incoming.on("end", () => {
        const bytes = Buffer.concat(chunks);
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, bytes, text: bytes.toString() });
      });
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
