import { getClient } from "@lodestar/api";
import type { Api } from "../../src/api/api.ts";
import { createMethodTable } from "../../src/api/method-table.ts";
import { createRouteTable } from "../../src/api/rest/routes.ts";
import { createRecordingLogger, type LogRecord } from "../../src/log/recording-logger.test-support.ts";
import { createJsonRpcServer } from "../../src/server/jsonrpc/server.ts";
import { createRestServer } from "../../src/server/rest/server.ts";

export interface RestReply {
  status: number;
  headers: Headers;
  text: string;
}

/** Both doors before one api, each on a port of its own. */
export async function serveDoors(api: Api) {
  const log: LogRecord[] = [];
  const logger = createRecordingLogger(log);
  const methods = createMethodTable(api);
  const jsonRpc = createJsonRpcServer({ table: methods, logger });
  const table = createRouteTable(methods);
  const rest = createRestServer({ table, logger });
  const where = { host: "127.0.0.1", port: 0 };
  const { url: jsonRpcUrl } = await jsonRpc.listen(where);
  const { url } = await rest.listen(where);
  return {
    url,
    methods,
    table,
    /** What the doors have logged. */
    log,
    client: getClient({ baseUrl: url }, { config: api.chainConfig }),
    /** The whole text of the response to a call that asks for its metadata. */
    async call(method: string, params: unknown[]): Promise<string> {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params, meta: true });
      const response = await fetch(jsonRpcUrl, {
        method: "POST",
        body,
        headers: { "Content-Type": "application/json" },
      });
      return response.text();
    },
    async ask(path: string, init?: RequestInit): Promise<RestReply> {
      const response = await fetch(url + path, init);
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
    async close(): Promise<void> {
      await Promise.all([rest.close(), jsonRpc.close()]);
    },
  };
}

export type ServedDoors = Awaited<ReturnType<typeof serveDoors>>;
