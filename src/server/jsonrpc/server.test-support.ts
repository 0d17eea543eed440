import { Failure, type FailureKind } from "../../errors/failure.ts";
import { IrregularNumber } from "../../json/parse.ts";
import { createRecordingLogger, type LogRecord } from "../../log/recording-logger.test-support.ts";
import type { AccessClass } from "../access-class.ts";
import type { CallObserver } from "../call-observer.ts";
import type { AccessLog } from "../http/access-log.ts";
import type { AccessOptions } from "../http/access-policy.ts";
import { type RequestInit, send, streamOf } from "../http/http.test-support.ts";
import type { PageFiles } from "../http/pages.ts";
import type { Answer, Caller, Method, MethodTable, Params, Waiting } from "../method-table.ts";
import type { JsonRpcLimits } from "./limits.ts";
import { createJsonRpcServer } from "./server.ts";
import type { WebSocketLimits } from "./websocket/websockets.ts";

type Handler = (params: Params, caller?: Caller, waiting?: Waiting) => Promise<Answer>;

export const json = (value: unknown): Answer => ({ body: Buffer.from(JSON.stringify(value)) });

/** Shows parameters as they arrived, irregular numbers included. */
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
  /** Methods of one test, beside the standard ones. */
  handlers?: Record<string, Handler>;
  /** Those of the test's methods that are submissions. */
  submissions?: string[];
  /** Those of the test's methods that are of other classes. */
  classes?: Record<string, AccessClass>;
  access?: AccessOptions;
  pages?: PageFiles;
  /** Those that take large parameters. */
  large?: string[];
  limits?: Partial<JsonRpcLimits>;
  webSocketLimits?: Partial<WebSocketLimits>;
  suggest?: MethodTable["suggest"];
  observer?: CallObserver;
  accessLog?: AccessLog;
  host?: string;
  port?: number;
}

/** A server before a table of made-up methods, on a free port unless told otherwise. */
export async function openTestServer(options: TestServerOptions = {}) {
  const { handlers = {}, submissions = [], classes = {}, large = ["echo"] } = options;
  const { access, limits, webSocketLimits, suggest, observer, accessLog, pages } = options;
  const methods = new Map<string, Method>();
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
  const server = createJsonRpcServer({ table, logger, access, limits, webSocketLimits, observer, accessLog, pages });
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

/** The text of a request object, whose members are given as JSON texts. */
export function requestText(members: Record<string, string | undefined>): string {
  const defaults = { jsonrpc: '"2.0"', id: "1", method: '"echo"' };
  const entries = Object.entries({ ...defaults, ...members }).filter(([, text]) => text !== undefined);
  return `{${entries.map(([name, text]) => `"${name}":${text}`).join(",")}}`;
}
