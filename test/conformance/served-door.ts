import type { Api } from "../../src/api/api.ts";
import { createMethodTable } from "../../src/api/method-table.ts";
import { createRecordingLogger, type LogRecord } from "../../src/log/recording-logger.test-support.ts";
import { send } from "../../src/server/http/http.test-support.ts";
import type { ErrorObject } from "../../src/server/jsonrpc/errors.ts";
import { createJsonRpcServer } from "../../src/server/jsonrpc/server.ts";
import type { Params } from "../../src/server/method-table.ts";

export interface SocketAnswer {
  result?: unknown;
  error?: ErrorObject;
  meta?: Record<string, unknown>;
  headers: Record<string, string | string[] | undefined>;
}

export interface ServedDoor {
  url: string;
  /** What the door has logged. */
  log: readonly LogRecord[];
  /** Makes a call that asks for its metadata. */
  call(method: string, params: Params): Promise<SocketAnswer>;
  close(): Promise<void>;
}

/** The real door in front of an api, on a port of its own. */
export async function serveDoor(api: Api): Promise<ServedDoor> {
  const log: LogRecord[] = [];
  const server = createJsonRpcServer({ table: createMethodTable(api), logger: createRecordingLogger(log) });
  const { url } = await server.listen({ host: "127.0.0.1", port: 0 });
  return {
    url,
    log,
    call: async (method, params) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params, meta: true });
      const { headers, text } = await send(url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body,
      });
      return { ...(JSON.parse(text) as Omit<SocketAnswer, "headers">), headers };
    },
    close: () => server.close(),
  };
}
