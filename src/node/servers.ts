import { ClosingStack } from "../async/closing-stack.ts";
import type { Logger } from "../log/logger.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { CallTally } from "../server/call-tallies.ts";
import type { WriteLines } from "../server/http/access-log.ts";
import type { AccessOptions } from "../server/http/access-policy.ts";
import type { HttpServer } from "../server/http/server.ts";
import type { JsonRpcLimits } from "../server/jsonrpc/limits.ts";
import { ListenError } from "../server/listen-error.ts";
import type { RouteTable } from "../server/rest/route-table.ts";
import { ServersThread, type Served as ThreadServed } from "../server/thread/servers-thread.ts";
import { listenFailure } from "./listen-failure.ts";
import { pageFiles } from "./page-files.ts";
import type { ServerLimits } from "./server-limits.ts";

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
  /** Gets the lines of the access log; left out when there is none. */
  writeAccess?: WriteLines;
}

/** What the servers can be asked. */
interface Served extends Omit<ThreadServed, "routes"> {
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
  /** Resolves when the servers cannot go on. */
  readonly failed: Promise<Error>;
  close(): Promise<void>;
}

/** Starts the thread that the servers will run in, if any of them is asked for, so that it is there when they are started. */
export function prepareServers({ jsonRpc, rest }: ServersOptions, logger: Logger): ServersThread | undefined {
  return jsonRpc || rest ? new ServersThread(logger, { servesRest: rest !== undefined }) : undefined;
}

/** Starts the servers that are asked for. That of metrics runs beside the chain, which it looks at. */
export async function startServers(
  { routes, metrics, ...served }: Served,
  options: ServersOptions,
  logger: Logger,
  thread = prepareServers(options, logger),
): Promise<Servers> {
  await using starting = new ClosingStack();
  const close = async () => {
    await Promise.all([thread?.close(), metricsServer?.close()]);
  };
  let metricsServer: HttpServer | undefined;
  starting.defer(close);
  const { jsonRpc, rest, limits } = options;
  const observe = metrics && ((calls: readonly CallTally[]) => metrics.addCalls(calls));
  const urls = await thread
    ?.serve(
      { ...served, routes: rest && routes() },
      {
        listen: { "json-rpc": jsonRpc, rest },
        pages: jsonRpc?.page ? pageFiles() : undefined,
        limits: limits && httpLimits(limits),
        observe,
        writeAccess: options.writeAccess,
      },
    )
    .catch((error: unknown) => {
      throw listenFailure(error, options);
    });
  if (thread) metrics?.watch(thread);
  let metricsUrl: string | undefined;
  if (metrics && options.metrics) {
    const { createMetricsServer } = await import("../metrics/metrics-server.ts");
    const { probesOf } = await import("../server/rest/probes.ts");
    const server = createMetricsServer({ metrics, probes: probesOf(routes()), logger });
    try {
      metricsUrl = (await server.listen(options.metrics)).url;
    } catch (error) {
      throw listenFailure(new ListenError("metrics", error as NodeJS.ErrnoException), options);
    }
    metricsServer = server;
  }
  starting.move();
  const failed = thread?.failed ?? new Promise<never>(() => {});
  return { jsonRpcUrl: urls?.["json-rpc"], restUrl: urls?.rest, metricsUrl, failed, close };
}

/** Calls have their limits where they are answered. */
function httpLimits({ calls: _, ...limits }: ServerLimits): JsonRpcLimits {
  return limits;
}
