import { Failure, type FailureKind } from "../../../../src/errors/failure.ts";
import { IrregularNumber } from "../../../../src/json/parse.ts";
import type { AccessClass } from "../../../../src/server/access-class.ts";
import type { CallObserver } from "../../../../src/server/call-observer.ts";
import type { AccessOptions } from "../../../../src/server/http/access/access-policy.ts";
import type { AccessLog } from "../../../../src/server/http/access-log.ts";
import type { StaticFilePaths } from "../../../../src/server/http/response/static-files.ts";
import type { Endpoints } from "../../../../src/server/http/server.ts";
import type { JsonRpcLimits } from "../../../../src/server/jsonrpc/limits.ts";
import { createJsonRpcServer } from "../../../../src/server/jsonrpc/server.ts";
import type { WebSocketLimits } from "../../../../src/server/jsonrpc/websocket/websockets.ts";
import type {
  CallableMethod,
  Caller,
  Cancellation,
  MethodResponse,
  MethodTable,
  Params,
} from "../../../../src/server/method-table.ts";
import { createRecordingLogger, type LogRecord } from "../../log/recording-logger.ts";
import { type RequestInit, send, streamOf } from "../http/http.ts";

type Handler = (params: Params, caller?: Caller, cancellation?: Cancellation) => Promise<MethodResponse>;

export const json = (value: unknown): MethodResponse => ({ body: Buffer.from(JSON.stringify(value)) });

/** Returns the parameters as received, including irregular numbers. */
const echo: Handler = async (params) => ({
  body: Buffer.from(
    JSON.stringify(params, function (this: Record<string, unknown>, key, value) {
      const held = this[key];
      return held instanceof IrregularNumber ? `irregular ${held.source}` : value;
    }),
  ),
});

const standardHandlers: Record<string, Handler> = {
  echo,
  null: async () => json(null),
  fail: async (params) => {
    const [kind, detail, failures] = params as [FailureKind, string?, Failure["failures"]?];
    throw new Failure(kind, `It failed as ${kind}.`, { detail, failures });
  },
  crash: async () => {
    throw new Error("a secret of the node");
  },
  described: async () => ({
    ...json("block"),
    meta: { version: "deneb", finalized: false },
    headers: { "Eth-Consensus-Version": "deneb" },
  }),
  never: () => new Promise(() => {}),
  large: async () => json("x".repeat(200_000)),
  stream: async () => ({
    body: streamOf("[1,", "2,", "", "3]"),
    meta: { streamed: true },
    headers: { "Eth-Consensus-Version": "electra" },
  }),
  empty_stream: async () => ({ body: streamOf() }),
  empty_body: async () => ({ body: Buffer.alloc(0) }),
  early_break: async () => ({ body: failingStream() }),
  late_break: async () => ({ body: failingStream("[1,") }),
};

async function* failingStream(...chunks: string[]): AsyncGenerator<Buffer> {
  yield* streamOf(...chunks);
  throw new Failure("unavailable", "The stream broke.");
}

export interface TestServerOptions {
  /** Additional methods. */
  handlers?: Record<string, Handler>;
  /** Additional methods of the class `submit`. */
  submissions?: string[];
  /** Additional methods of other classes. */
  classes?: Record<string, AccessClass>;
  access?: AccessOptions;
  pages?: StaticFilePaths;
  /** Methods with large parameters. */
  large?: string[];
  limits?: Partial<JsonRpcLimits>;
  webSocketLimits?: Partial<WebSocketLimits>;
  suggest?: MethodTable["suggest"];
  observer?: CallObserver;
  accessLog?: AccessLog;
  endpoints?: Endpoints;
  host?: string;
  port?: number;
}

/** Opens a server with test methods, by default on a free port. */
export async function openTestServer(options: TestServerOptions = {}) {
  const { handlers = {}, submissions = [], classes = {}, large = ["echo"] } = options;
  const { suggest, access, limits, webSocketLimits, observer, accessLog, pages, endpoints } = options;
  const methods = new Map<string, CallableMethod>();
  for (const [name, call] of Object.entries({ ...standardHandlers, ...handlers })) {
    methods.set(name, {
      name,
      cost: "cheap",
      access: classes[name] ?? (submissions.includes(name) ? "submit" : "read"),
      takesLargeBody: large.includes(name),
      call,
    });
  }
  const log: LogRecord[] = [];
  const table: MethodTable = { find: (name) => methods.get(name), suggest };
  const logger = createRecordingLogger(log);
  const own = { access, limits, webSocketLimits, observer, accessLog, pages, endpoints };
  const server = createJsonRpcServer({ table, logger, ...own });
  const { url, port } = await server.listen({ host: options.host ?? "127.0.0.1", port: options.port ?? 0 });
  return {
    url,
    port,
    log,
    close: () => server.close(),
    load: () => server.load(),
    post: (body: string | Uint8Array, init?: RequestInit) =>
      send(url, { method: "POST", headers: { "Content-Type": "application/json" }, body, ...init }),
  };
}

export type TestServer = Awaited<ReturnType<typeof openTestServer>>;

/** Builds the text of a request object from JSON texts of its members. */
export function requestText(members: Record<string, string | undefined>): string {
  const defaults = { jsonrpc: '"2.0"', id: "1", method: '"echo"' };
  const entries = Object.entries({ ...defaults, ...members }).filter(([, text]) => text !== undefined);
  return `{${entries.map(([name, text]) => `"${name}":${text}`).join(",")}}`;
}
