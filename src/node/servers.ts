import type { Logger } from "../log/logger.ts";
import type { AccessOptions } from "../server/http/access-policy.ts";
import type { HttpServer } from "../server/http/server.ts";
import { createJsonRpcServer } from "../server/jsonrpc/server.ts";
import type { MethodTable } from "../server/method-table.ts";
import type { RouteTable } from "../server/rest/route-table.ts";
import { createRestServer } from "../server/rest/server.ts";
import type { ServerLimits } from "./server-limits.ts";
import { StartError, type StartErrorKind } from "./start-error.ts";

interface ListenOptions {
  host: string;
  /** 0 for any free port. */
  port: number;
  access?: AccessOptions;
}

/** Those that are wanted. */
export interface ServersOptions {
  limits?: ServerLimits;
  jsonRpc?: ListenOptions;
  rest?: ListenOptions;
}

/** What the servers can be asked. */
interface ServedTables {
  methods: MethodTable;
  routes(): RouteTable;
}

/** The servers that run. */
export interface Servers {
  /** Undefined for one that was not asked for. */
  readonly jsonRpcUrl: string | undefined;
  readonly restUrl: string | undefined;
  close(): Promise<void>;
}

/** Starts the servers that are asked for. */
export async function startServers(
  { methods, routes }: ServedTables,
  { jsonRpc, rest, limits }: ServersOptions,
  logger: Logger,
): Promise<Servers> {
  const listening: HttpServer[] = [];
  const close = async () => {
    await Promise.all(listening.map((server) => server.close()));
  };
  await using starting = new AsyncDisposableStack();
  starting.defer(close);
  let jsonRpcUrl: string | undefined;
  let restUrl: string | undefined;
  if (jsonRpc) {
    const server = createJsonRpcServer({ table: methods, limits, access: jsonRpc.access, logger: logger.topic("rpc") });
    jsonRpcUrl = await listen(server, jsonRpc, "JSON-RPC", "rpcPortInUse");
    listening.push(server);
  }
  if (rest) {
    const server = createRestServer({ table: routes(), limits, access: rest.access, logger: logger.topic("rest") });
    restUrl = await listen(server, rest, "REST", "restPortInUse");
    listening.push(server);
  }
  starting.move();
  return { jsonRpcUrl, restUrl, close };
}

async function listen(
  server: HttpServer,
  { host, port }: ListenOptions,
  noun: string,
  portInUse: StartErrorKind,
): Promise<string> {
  try {
    return (await server.listen({ host, port })).url;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") {
      throw new StartError(portInUse, `Port ${port} of ${host} is in use by another process.`, error);
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError("cannotListen", `The ${noun} server cannot listen on ${host}:${port}: ${reason}.`, error);
  }
}
