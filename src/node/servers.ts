import { ClosingStack } from "../closing-stack.ts";
import type { Logger } from "../log/logger.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { createMetricsServer } from "../metrics/metrics-server.ts";
import type { AccessOptions } from "../server/http/access-policy.ts";
import type { HttpServer } from "../server/http/server.ts";
import { createJsonRpcServer } from "../server/jsonrpc/server.ts";
import type { MethodTable } from "../server/method-table.ts";
import type { RouteTable } from "../server/rest/route-table.ts";
import { createRestServer } from "../server/rest/server.ts";
import { pageFiles } from "./page-files.ts";
import type { ServerLimits } from "./server-limits.ts";
import { StartError, type StartErrorKind } from "./start-error.ts";

interface ListenOptions {
  host: string;
  /** 0 for any free port. */
  port: number;
}

interface ApiOptions extends ListenOptions {
  access?: AccessOptions;
}

interface JsonRpcOptions extends ApiOptions {
  /** Whether browsers are shown a page on which the chain can be looked at. */
  page?: boolean;
}

/** Those that are wanted. */
export interface ServersOptions {
  limits?: ServerLimits;
  jsonRpc?: JsonRpcOptions;
  rest?: ApiOptions;
  metrics?: ListenOptions;
}

/** What the servers can be asked. */
interface Served {
  methods: MethodTable;
  routes(): RouteTable;
  /** Left out when nothing is measured. */
  metrics?: Metrics;
}

/** The servers that run. */
export interface Servers {
  /** Undefined for one that was not asked for. */
  readonly jsonRpcUrl: string | undefined;
  readonly restUrl: string | undefined;
  readonly metricsUrl: string | undefined;
  close(): Promise<void>;
}

/** Starts the servers that are asked for. */
export async function startServers(
  { methods, routes, metrics }: Served,
  options: ServersOptions,
  logger: Logger,
): Promise<Servers> {
  const { jsonRpc, rest, limits } = options;
  const observer = metrics?.calls;
  const listening: HttpServer[] = [];
  const close = async () => {
    await Promise.all(listening.map((server) => server.close()));
  };
  await using starting = new ClosingStack();
  starting.defer(close);
  let jsonRpcUrl: string | undefined;
  let restUrl: string | undefined;
  let metricsUrl: string | undefined;
  if (jsonRpc) {
    const { access, page } = jsonRpc;
    const pages = page ? pageFiles() : undefined;
    const server = createJsonRpcServer({
      table: methods,
      limits,
      access,
      observer,
      logger: logger.topic("rpc"),
      pages,
    });
    jsonRpcUrl = await listen(server, jsonRpc, "JSON-RPC", "rpcPortInUse");
    listening.push(server);
    metrics?.watch("json-rpc", server);
  }
  if (rest) {
    const { access } = rest;
    const server = createRestServer({ table: routes(), limits, access, observer, logger: logger.topic("rest") });
    restUrl = await listen(server, rest, "REST", "restPortInUse");
    listening.push(server);
    metrics?.watch("rest", server);
  }
  if (metrics && options.metrics) {
    const server = createMetricsServer(metrics, logger);
    metricsUrl = await listen(server, options.metrics, "metrics", "metricsPortInUse");
    listening.push(server);
  }
  starting.move();
  return { jsonRpcUrl, restUrl, metricsUrl, close };
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
