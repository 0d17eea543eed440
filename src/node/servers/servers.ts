import { ClosingStack } from "../../async/closing-stack.ts";
import type { Logger } from "../../log/logger.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import type { CallStats } from "../../server/call-stats.ts";
import type { AccessOptions } from "../../server/http/access/access-policy.ts";
import type { WriteLines } from "../../server/http/access-log.ts";
import type { HttpServer } from "../../server/http/server.ts";
import type { JsonRpcLimits } from "../../server/jsonrpc/limits.ts";
import { ListenError } from "../../server/listen-error.ts";
import type { RouteTable } from "../../server/rest/route-table.ts";
import { ServersThread, type ServedApi as ThreadServed } from "../../server/thread/main/servers-thread.ts";
import { listenStartError } from "./listen-error.ts";
import { pageFiles } from "./page/page-files.ts";
import type { ServerLimits } from "./server-limits.ts";

/** Namespaces of the Ethereum JSON-RPC server. */
const ETH_NAMESPACES = ["eth", "net", "web3", "personal", "txpool", "debug", "anvil", "hardhat", "evm", "dev"];

interface ListenOptions {
  host: string;
  /** 0 for any free port. */
  port: number;
}

export interface ApiOptions extends ListenOptions {
  access?: AccessOptions;
}

export interface JsonRpcOptions extends ApiOptions {
  /** Serves the web page. */
  page?: boolean;
}

export interface EthRpcOptions extends ApiOptions {
  /** Uses the next free port if the port is in use. */
  triesNextPorts?: boolean;
}

/** The configured servers. */
export interface ServersOptions {
  limits?: ServerLimits;
  jsonRpc?: JsonRpcOptions;
  /** Serves the methods of execution clients and their dev networks. */
  ethRpc?: EthRpcOptions;
  rest?: ApiOptions;
  /** Serves the Web3Signer API over the keys of a dev chain. */
  signer?: ApiOptions;
  metrics?: ListenOptions;
  /** Writes lines to the access log. Omitted if there is no access log. */
  writeAccess?: WriteLines;
}

/** Methods, routes, feeds and metrics to serve. */
interface Served extends Omit<ThreadServed, "routes"> {
  routes(): RouteTable;
  /** Omitted if metrics are disabled. */
  metrics?: Metrics;
}

/** The running servers. */
export interface Servers {
  /** Undefined for a server that is not configured. */
  readonly jsonRpcUrl: string | undefined;
  readonly ethRpcUrl: string | undefined;
  readonly restUrl: string | undefined;
  /** Set for a dev chain with a signer. */
  readonly signerUrl?: string | undefined;
  readonly metricsUrl: string | undefined;
  /** Resolves when the servers fail. */
  readonly failed: Promise<Error>;
  close(): Promise<void>;
}

/** Starts the worker thread of the API servers, if any is configured. Called early, since loading it takes time. */
export function startServersThread(options: ServersOptions, logger: Logger): ServersThread | undefined {
  const { jsonRpc, ethRpc, rest } = options;
  return jsonRpc || ethRpc || rest ? new ServersThread(logger, { servesRest: rest !== undefined }) : undefined;
}

/** Starts the configured servers. The metrics server runs in the main thread. */
export async function startServers(
  { routes, metrics, ...served }: Served,
  options: ServersOptions,
  logger: Logger,
  thread = startServersThread(options, logger),
): Promise<Servers> {
  await using starting = new ClosingStack();
  const close = async () => {
    await Promise.all([thread?.close(), metricsServer?.close()]);
  };
  let metricsServer: HttpServer | undefined;
  starting.defer(close);
  const { jsonRpc, ethRpc, rest, limits } = options;
  const observe = metrics && ((calls: readonly CallStats[]) => metrics.addCalls(calls));
  const urls = await thread
    ?.serve(
      { ...served, routes: rest && routes() },
      {
        listen: { "json-rpc": jsonRpc, "eth-rpc": ethRpc && { ...ethRpc, namespaces: ETH_NAMESPACES }, rest },
        pages: jsonRpc?.page ? await pageFiles() : undefined,
        limits: limits && httpLimits(limits),
        observe,
        writeAccess: options.writeAccess,
      },
    )
    .catch((error: unknown) => {
      throw listenStartError(error, options);
    });
  if (thread) metrics?.watch(thread);
  let metricsUrl: string | undefined;
  if (metrics && options.metrics) {
    const { createMetricsServer } = await import("../../metrics/metrics-server.ts");
    const { probesOf } = await import("../../server/rest/probes.ts");
    const server = createMetricsServer({ metrics, probes: probesOf(routes()), logger });
    try {
      metricsUrl = (await server.listen(options.metrics)).url;
    } catch (error) {
      throw listenStartError(new ListenError("metrics", error as NodeJS.ErrnoException), options);
    }
    metricsServer = server;
  }
  starting.move();
  const failed = thread?.failed ?? new Promise<never>(() => {});
  return {
    jsonRpcUrl: urls?.["json-rpc"],
    ethRpcUrl: urls?.["eth-rpc"],
    restUrl: urls?.rest,
    metricsUrl,
    failed,
    close,
  };
}

/** Removes the call limits, which are enforced in the main thread. */
function httpLimits({ calls: _, ...limits }: ServerLimits): JsonRpcLimits {
  return limits;
}
