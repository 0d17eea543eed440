import type { Api } from "../../src/api/api.ts";
import { type BoundMethods, createMethodTable } from "../../src/api/method-table.ts";
import { createRouteTable } from "../../src/api/rest/routes.ts";
import { createRecordingLogger, type LogRecord } from "../../src/log/recording-logger.test-support.ts";
import { startServers } from "../../src/node/servers.ts";
import type { RouteTable } from "../../src/server/rest/route-table.ts";

export interface ServedApi {
  jsonRpcUrl: string;
  restUrl: string;
  methods: BoundMethods;
  routes: RouteTable;
  /** What the servers have logged. */
  log: readonly LogRecord[];
  close(): Promise<void>;
}

/** Both servers of a node before an api, each on a port of its own. */
export async function serveApi(api: Api): Promise<ServedApi> {
  const log: LogRecord[] = [];
  const methods = createMethodTable(api);
  const routes = createRouteTable(methods);
  const anywhere = { host: "127.0.0.1", port: 0 };
  const { jsonRpcUrl, restUrl, close } = await startServers(
    { methods, routes: () => routes },
    { jsonRpc: anywhere, rest: anywhere },
    createRecordingLogger(log),
  );
  return { jsonRpcUrl: jsonRpcUrl!, restUrl: restUrl!, methods, routes, log, close };
}
