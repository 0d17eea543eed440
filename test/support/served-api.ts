import type { Api } from "../../src/api/api.ts";
import { createRouteTable } from "../../src/catalogue/rest/table.ts";
import { createMethodTable } from "../../src/catalogue/table.ts";
import { createRecordingLogger, type RecordingLogger } from "../../src/dev/validators/recording-logger.test-support.ts";
import { startServers } from "../../src/node/servers.ts";
import type { MethodTable } from "../../src/server/method-table.ts";
import type { RouteTable } from "../../src/server/rest/route-table.ts";

/** What JSON-RPC can be asked of an api. */
export const methodTable = (api: Api): Required<MethodTable> => createMethodTable(api);

/** What REST can be asked of an api. */
export const routeTable = (api: Api): RouteTable => createRouteTable(api, createMethodTable(api));

export interface ServedApi {
  jsonRpcUrl: string;
  restUrl: string;
  /** What the servers have logged. */
  log: RecordingLogger["records"];
  close(): Promise<void>;
}

/** Both servers of a node before an api, each on a port of its own. */
export async function serveApi(api: Api): Promise<ServedApi> {
  const logger = createRecordingLogger();
  const anywhere = { host: "127.0.0.1", port: 0 };
  const { jsonRpcUrl, restUrl, close } = await startServers(
    { methods: methodTable(api), routes: () => routeTable(api) },
    { jsonRpc: anywhere, rest: anywhere },
    logger,
  );
  return { jsonRpcUrl: jsonRpcUrl!, restUrl: restUrl!, log: logger.records, close };
}
