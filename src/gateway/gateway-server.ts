import { methods as definitions } from "../api/method-groups.ts";
import { ClosingStack } from "../async/closing-stack.ts";
import type { Timers } from "../async/timers.ts";
import { Failure } from "../errors/failure.ts";
import type { Logger } from "../log/logger.ts";
import { useNativeHasher } from "../runtime/native-hasher.ts";
import { CallStatsCollector } from "../server/call-stats.ts";
import type { AccessOptions } from "../server/http/access/access-policy.ts";
import { AccessLog, type WriteLines } from "../server/http/access-log.ts";
import type { StaticFilePaths } from "../server/http/response/static-files.ts";
import { DEFAULT_HTTP_LIMITS, type HttpServer, type ServerLoad } from "../server/http/server.ts";
import type { JsonRpcLimits } from "../server/jsonrpc/limits.ts";
import { createJsonRpcServer } from "../server/jsonrpc/server.ts";
import { ListenError } from "../server/listen-error.ts";
import { createGatewayTables } from "./calls/gateway-tables.ts";
import type { BudgetStore } from "./clients/budget-store.ts";
import { ClientRegistry } from "./clients/client-registry.ts";
import type { GatewayEvents } from "./events/gateway-events.ts";
import { GatewayCounters } from "./metrics/gateway-counters.ts";
import type { ServerName, ServerReport } from "./metrics/server-report.ts";
import type { ChainSpec } from "./network/chain-spec.ts";
import { MethodPolicies } from "./policies/method-policies.ts";
import { RequestPipeline } from "./request-pipeline.ts";
import type { GatewaySettings } from "./settings.ts";
import type { StickyRoutes } from "./upstream/selection/sticky-routes.ts";
import type { UpstreamCall, UpstreamResponse } from "./upstream/upstream-call.ts";
import type { HealthTracker } from "./upstream/upstream-health.ts";

export interface ListenOptions {
  host: string;
  /** 0 selects a free port. */
  port: number;
  access?: AccessOptions;
}

/** Which servers to start. Structured-cloneable. */
export interface ServerOptions {
  limits: Partial<JsonRpcLimits>;
  jsonRpc?: ListenOptions;
  rest?: ListenOptions;
  /** Web pages for browsers. */
  pages?: StaticFilePaths | undefined;
}

interface GatewayServerDeps {
  settings: GatewaySettings;
  chainSpec: ChainSpec;
  health: HealthTracker;
  events: GatewayEvents;
  /** Called after several consecutive requests to an upstream failed. */
  onRepeatedFailure(upstream: string, reason: string): void;
  /** Sticky routes that are shared with other processes. */
  stickyRoutes?: StickyRoutes;
  /** Counters of the budgets, shared with other processes. */
  budgetStore: BudgetStore;
  servers: ServerOptions;
  /** Enables the counters. */
  hasMetrics: boolean;
  /** Receives access log lines. Undefined if there is no access log. */
  writeAccessLog?: WriteLines | undefined;
  timers: Timers;
  logger: Logger;
}

export type ServerUrls = { [Name in ServerName]?: string };

interface OpenedServers {
  urls: ServerUrls;
  servers: ReadonlyMap<ServerName, HttpServer>;
  reload(settings: GatewaySettings): void;
  calls: CallStatsCollector;
  counters: GatewayCounters;
  draining: { isDraining: boolean };
  opened: ClosingStack;
}

/** The servers of one process, with the request pipeline behind them: tables, cache, quorum and upstream pool. */
export class GatewayServer {
  readonly urls: ServerUrls;
  readonly #servers: ReadonlyMap<ServerName, HttpServer>;
  readonly #calls: CallStatsCollector;
  readonly #counters: GatewayCounters;
  readonly #draining: { isDraining: boolean };
  readonly #reload: (settings: GatewaySettings) => void;
  readonly #opened: ClosingStack;

  static async open(deps: GatewayServerDeps): Promise<GatewayServer> {
    const { settings, chainSpec, health, events, timers, logger } = deps;
    const { servers: served, hasMetrics, writeAccessLog } = deps;
    await using opening = new ClosingStack();
    // For the roots of blocks.
    useNativeHasher();
    const counters = new GatewayCounters();
    const calls = new CallStatsCollector();
    const draining = { isDraining: false };
    const observer = hasMetrics ? counters : undefined;
    const clients = new ClientRegistry({ store: deps.budgetStore, timers, observer });
    const callTimeoutMillis = served.limits.requestMillis ?? DEFAULT_HTTP_LIMITS.requestMillis;
    const pipelineDeps = { ...deps, revision: events.revision, observer, callTimeoutMillis };
    const createPipeline = (current: GatewaySettings) => {
      const policies = new MethodPolicies(current.policies, definitions);
      clients.update(current.clients, policies);
      return new RequestPipeline(current, policies, pipelineDeps);
    };
    let { quorum } = settings;
    let pipeline = createPipeline(settings);
    /** The current pipeline, and retired ones with running requests. */
    const pipelines = new Set([pipeline]);
    opening.defer(() => Promise.all(Array.from(pipelines, (each) => each.close())));
    const reload = (changed: GatewaySettings) => {
      const before = pipeline;
      pipeline = createPipeline(changed);
      quorum = changed.quorum;
      pipelines.add(pipeline);
      void before.retire().then(() => pipelines.delete(before));
    };
    /** Retries a read that fails after a reload with the new settings: its upstream may have been removed. */
    const read = (call: UpstreamCall): Promise<UpstreamResponse> => {
      const used = pipeline;
      return used.reader.read(call).catch((error: unknown) => {
        if (used === pipeline || !isUnavailable(error)) throw error;
        return read(call);
      });
    };
    const isClosing = () => draining.isDraining;
    const { methods, routes } = createGatewayTables({
      reader: { read },
      upstreams: { submit: (call) => pipeline.upstreams.submit(call) },
      health,
      events,
      chainSpec,
      quorum: () => quorum,
      isClosing,
    });
    const urls: ServerUrls = {};
    const shared = {
      endpoints: urls,
      clients,
      limits: served.limits,
      observer: hasMetrics ? calls : undefined,
      accessLog: writeAccessLog && new AccessLog(writeAccessLog, timers),
    };
    const { jsonRpc, rest, pages } = served;
    const servers = new Map<ServerName, HttpServer>();
    async function start(name: ServerName, server: HttpServer, where: ListenOptions): Promise<void> {
      try {
        urls[name] = (await server.listen(where)).url;
      } catch (error) {
        throw new ListenError(name, error as NodeJS.ErrnoException);
      }
      servers.set(name, server);
    }
    opening.defer(() => Promise.all(Array.from(servers.values(), (server) => server.close())));
    if (jsonRpc) {
      const { access } = jsonRpc;
      const own = { table: methods, access, pages, logger: logger.topic("rpc") };
      await start("json-rpc", createJsonRpcServer({ ...shared, ...own }), jsonRpc);
    }
    if (rest) {
      // Loaded lazily because it is slow to load.
      const { createRestServer } = await import("../server/rest/server.ts");
      const own = { table: routes, access: rest.access, logger: logger.topic("rest") };
      await start("rest", createRestServer({ ...shared, ...own }), rest);
    }
    return new GatewayServer({ urls, servers, reload, calls, counters, draining, opened: opening.move() });
  }

  private constructor({ urls, servers, reload, calls, counters, draining, opened }: OpenedServers) {
    this.urls = urls;
    this.#servers = servers;
    this.#calls = calls;
    this.#counters = counters;
    this.#draining = draining;
    this.#reload = reload;
    this.#opened = opened;
  }

  report(): ServerReport {
    const loads = Array.from(this.#servers, ([name, server]): [ServerName, ServerLoad] => [name, server.load()]);
    return { loads, calls: this.#calls.drain(), gateway: this.#counters.take() };
  }

  /** Applies changed upstreams, clients and policies. Connections and running calls are not affected. */
  reload(settings: GatewaySettings): void {
    this.#reload(settings);
  }

  /** Reports itself as not ready from now on and continues to serve. */
  drain(): void {
    this.#draining.isDraining = true;
  }

  /** Stops accepting requests, waits for running calls, then closes the pipeline. */
  async close(): Promise<void> {
    this.drain();
    await this.#opened[Symbol.asyncDispose]();
  }
}

/** True if other upstreams may answer. */
function isUnavailable(error: unknown): boolean {
  return error instanceof Failure && (error.kind === "unavailable" || error.kind === "overloaded");
}
