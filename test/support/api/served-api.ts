import type { Api } from "../../../src/api/api.ts";
import { type BoundMethods, createMethodTable } from "../../../src/api/bound-methods.ts";
import { createRouteTable } from "../../../src/api/rest/routes.ts";
import { feedOf } from "../../../src/api/subscription-feed.ts";
import { startServers } from "../../../src/node/servers/servers.ts";
import type { Params } from "../../../src/server/method-table.ts";
import { ServersThread } from "../../../src/server/thread/main/servers-thread.ts";
import { createRecordingLogger, type LogRecord } from "../log/recording-logger.ts";
import { serveInSameThread } from "../server/thread/same-thread.ts";

interface Reply {
  status: number;
  headers: Headers;
  text: string;
}

export interface ServedApi {
  jsonRpcUrl: string;
  restUrl: string;
  methods: BoundMethods;
  /** Log records of the servers. */
  log: readonly LogRecord[];
  /** Makes a JSON-RPC call with metadata. */
  call(method: string, params: Params): Promise<Reply>;
  /** Sends a REST request. */
  ask(path: string, init?: RequestInit): Promise<Reply>;
  close(): Promise<void>;
}

/** Serves an API over JSON-RPC and REST, each on its own port. */
export async function serveApi(api: Api): Promise<ServedApi> {
  const log: LogRecord[] = [];
  const logger = createRecordingLogger(log);
  const methods = createMethodTable(api);
  const anywhere = { host: "127.0.0.1", port: 0 };
  const { jsonRpcUrl, restUrl, close } = await startServers(
    {
      methods,
      routes: () => createRouteTable(methods),
      feed: (topics) => feedOf(api.context, topics),
      revision: api.context.chain.forkChoice.revision,
    },
    { jsonRpc: anywhere, rest: anywhere },
    logger,
    new ServersThread(logger, { servesRest: true }, serveInSameThread),
  );
  return {
    jsonRpcUrl: jsonRpcUrl!,
    restUrl: restUrl!,
    methods,
    log,
    call(method, params) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params, meta: true });
      return request(jsonRpcUrl!, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    },
    ask: (path, init) => request(restUrl! + path, init),
    close,
  };
}

async function request(url: string, init?: RequestInit): Promise<Reply> {
  const response = await fetch(url, init);
  return { status: response.status, headers: response.headers, text: await response.text() };
}
