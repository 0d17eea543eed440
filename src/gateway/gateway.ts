import { ClosingStack } from "../async/closing-stack.ts";
import { SYSTEM_TIMERS, type Timers } from "../async/timers.ts";
import { encodeJson } from "../json/encode.ts";
import { Alarm } from "../log/alarm.ts";
import type { Logger } from "../log/logger.ts";
import { createMetricsServer } from "../metrics/metrics-server.ts";
import type { WriteLines } from "../server/http/access-log.ts";
import { ListenError } from "../server/listen-error.ts";
import type { HealthProbes, ProbeResponse } from "../server/rest/probes.ts";
import { healthStatus, readiness } from "./calls/gateway-methods.ts";
import { type BudgetStore, LocalBudgetStore, RedisBudgetStore } from "./clients/budget-store.ts";
import { EventHub } from "./events/event-hub.ts";
import { GatewayServer, type ListenOptions, type ServerOptions, type ServerUrls } from "./gateway-server.ts";
import type { GatewayMetrics, ServerProcesses } from "./metrics/gateway-metrics.ts";
import type { ServerName, ServerReport } from "./metrics/server-report.ts";
import type { ChainSpec } from "./network/chain-spec.ts";
import type { GatewaySettings } from "./settings.ts";
import { HealthMonitor } from "./upstream/health/health-monitor.ts";
import type { HealthTracker } from "./upstream/upstream-health.ts";
import { findFreePort } from "./workers/free-port.ts";
import { WorkerPool } from "./workers/worker-pool.ts";

interface OpenGatewayOptions {
  settings: GatewaySettings;
  chainSpec: ChainSpec;
  servers: ServerOptions;
  /** Address of the metrics server. Undefined disables metrics. */
  metrics?: Omit<ListenOptions, "access"> | undefined;
  /** Receives access log lines. Undefined if there is no access log. */
  writeAccessLog?: WriteLines | undefined;
  timers?: Timers;
  logger: Logger;
}

/** Interval at which counters are collected, so that they do not grow without a scrape. */
const REPORT_INTERVAL_MILLIS = 1000;

interface OpenedGateway {
  health: HealthTracker;
  urls: ServerUrls;
  metricsUrl: string | undefined;
  /** Resolves when the drain period is over. */
  drain(): Promise<void>;
  reload(settings: GatewaySettings): Promise<void>;
}

/**
 * A beacon node API in front of other beacon nodes. Health monitoring and event merging run once, in this process.
 * Requests are served here or in worker processes.
 */
export class Gateway {
  readonly health: HealthTracker;
  /** Undefined if the server is disabled. */
  readonly jsonRpcUrl: string | undefined;
  readonly restUrl: string | undefined;
  readonly metricsUrl: string | undefined;
  readonly #opened: ClosingStack;
  readonly #drain: () => Promise<void>;
  readonly #reload: (settings: GatewaySettings) => Promise<void>;
  #closed: Promise<void> | undefined;

  static async open(setup: OpenGatewayOptions): Promise<Gateway> {
    const { settings, chainSpec, timers = SYSTEM_TIMERS, logger } = setup;
    const { drainMillis } = settings;
    await using opening = new ClosingStack();
    const monitor = new HealthMonitor({ settings, chainSpec, timers, logger });
    opening.defer(() => monitor.close());
    await monitor.start();
    const events = new EventHub({
      upstreams: settings.upstreams,
      health: monitor,
      observer: monitor,
      chainSpec,
      timers,
      logger,
      fetch: (upstream, path) => monitor.fetch(upstream, path),
      cache: settings.cache,
    });
    opening.defer(() => events.close());
    const budgetStore = createBudgetStore(settings, { timers, logger });
    opening.defer(() => budgetStore.close());
    const metrics = setup.metrics && (await createMetrics(monitor, events, settings));
    const shared = { monitor, events, budgetStore, metrics, timers };
    const { urls, processes } =
      settings.workers === 1
        ? await serveInProcess(setup, shared, opening)
        : await serveInWorkers(setup, shared, opening);
    metrics?.watch(processes);
    let isDraining = false;
    let { quorum } = settings;
    const probes = probesOf(monitor, { quorum: () => quorum, isClosing: () => isDraining });
    const metricsUrl = metrics && (await serveMetrics(metrics, probes, setup, opening));
    const drain = async () => {
      if (drainMillis === 0) return;
      isDraining = true;
      logger.info("Draining", { seconds: drainMillis / 1000 });
      processes.drain();
      await timers.sleep(drainMillis, new AbortController().signal);
    };
    const unready = new Alarm(logger, { raised: "Gateway is not ready", cleared: "Gateway is ready again" });
    const reportReadiness = () => {
      if (isDraining) return;
      const { ready, reasons } = readiness(monitor.all, { quorum, isClosing: false });
      unready.update(!ready, ready ? {} : { reasons });
    };
    reportReadiness();
    opening.defer(monitor.onChange(reportReadiness));
    const reload = async (changed: GatewaySettings) => {
      const { upstreams } = changed;
      // Added upstreams are monitored before they get requests, removed ones until their last request has ended.
      await monitor.addUpstreams(upstreams);
      quorum = changed.quorum;
      await processes.reload(changed);
      events.setUpstreams(upstreams);
      monitor.retainUpstreams(upstreams.map(({ name }) => name));
    };
    return new Gateway({ health: monitor, urls, metricsUrl, drain, reload }, opening.move());
  }

  private constructor({ health, urls, metricsUrl, drain, reload }: OpenedGateway, opened: ClosingStack) {
    this.health = health;
    this.jsonRpcUrl = urls["json-rpc"];
    this.restUrl = urls.rest;
    this.metricsUrl = metricsUrl;
    this.#drain = drain;
    this.#reload = reload;
    this.#opened = opened;
  }

  /** Never calls back: a gateway survives failures of its upstreams and workers. */
  onFailure(_callback: (failure: unknown) => void): void {}

  /**
   * Applies changed upstreams, clients and policies. Connections and running calls are not affected. Resolves when all
   * processes serve with the changed settings.
   */
  reload(settings: GatewaySettings): Promise<void> {
    return this.#reload(settings);
  }

  /** Drains if configured, waits for running calls, then closes all parts in reverse order. */
  close(): Promise<void> {
    this.#closed ??= this.#drain().then(() => this.#opened[Symbol.asyncDispose]());
    return this.#closed;
  }
}

/** Parts that exist once per gateway. */
interface SharedParts {
  monitor: HealthMonitor;
  events: EventHub;
  budgetStore: BudgetStore;
  metrics: GatewayMetrics | undefined;
  timers: Timers;
}

interface StartedServers {
  urls: ServerUrls;
  /**
   * `drain` makes all processes report as not ready. `reload` resolves when all of them serve with the changed
   * settings.
   */
  processes: ServerProcesses & { drain(): void; reload(settings: GatewaySettings): Promise<void> };
}

function createBudgetStore({ cache }: GatewaySettings, deps: { timers: Timers; logger: Logger }): BudgetStore {
  return cache ? new RedisBudgetStore({ cache, ...deps }) : new LocalBudgetStore(deps.timers);
}

/** Loads the Prometheus client only if metrics are enabled. */
async function createMetrics(
  health: HealthTracker,
  events: EventHub,
  { cache }: GatewaySettings,
): Promise<GatewayMetrics> {
  const { GatewayMetrics } = await import("./metrics/gateway-metrics.ts");
  return new GatewayMetrics({ health, events, hasCache: cache !== undefined });
}

/** Creates the health probes of the metrics port. */
function probesOf(
  health: HealthTracker,
  { quorum, isClosing }: { quorum(): number; isClosing(): boolean },
): HealthProbes {
  return new Map<string, () => Promise<ProbeResponse>>([
    [
      "/fanal/v1/ready",
      async () => {
        const data = readiness(health.all, { quorum: quorum(), isClosing: isClosing() });
        return { status: data.ready ? 200 : 503, body: encodeJson({ data }) };
      },
    ],
    ["/eth/v1/node/health", async () => ({ status: healthStatus(health.all, quorum()) })],
  ]);
}

async function serveMetrics(
  metrics: GatewayMetrics,
  probes: HealthProbes,
  { metrics: where, logger }: OpenGatewayOptions,
  opening: ClosingStack,
): Promise<string> {
  const server = createMetricsServer({ metrics, probes, logger });
  opening.defer(() => server.close());
  try {
    return (await server.listen(where!)).url;
  } catch (error) {
    throw new ListenError("metrics", error as NodeJS.ErrnoException);
  }
}

async function serveInProcess(
  setup: OpenGatewayOptions,
  shared: SharedParts,
  opening: ClosingStack,
): Promise<StartedServers> {
  const { monitor, events, budgetStore, metrics, timers } = shared;
  const server = await GatewayServer.open({
    ...setup,
    health: monitor,
    events,
    budgetStore,
    onRepeatedFailure: (upstream, reason) => monitor.reportFailing(upstream, reason),
    hasMetrics: metrics !== undefined,
    timers,
  });
  opening.defer(() => server.close());
  let loads: ServerReport["loads"] = [];
  const count = () => {
    const report = server.report();
    loads = report.loads;
    metrics?.add(report);
  };
  if (metrics) opening.defer(timers.every(REPORT_INTERVAL_MILLIS, count));
  const processes = {
    running: 1,
    replaced: 0,
    lag: undefined,
    get loads() {
      return loads;
    },
    get subscriberCounts() {
      return events.subscriberCounts;
    },
    refresh: async () => count(),
    drain: () => server.drain(),
    reload: async (settings: GatewaySettings) => server.reload(settings),
  };
  return { urls: server.urls, processes };
}

async function serveInWorkers(
  setup: OpenGatewayOptions,
  shared: SharedParts,
  opening: ClosingStack,
): Promise<StartedServers> {
  const { settings, chainSpec, servers, writeAccessLog, logger } = setup;
  const { monitor, events, budgetStore, metrics, timers } = shared;
  const { workers, urls } = await WorkerPool.start({
    count: settings.workers,
    config: {
      settings,
      chainSpec,
      servers: await withPorts(servers),
      hasMetrics: metrics !== undefined,
      hasAccessLog: writeAccessLog !== undefined,
    },
    health: monitor,
    handlers: {
      events,
      budgetStore,
      onRepeatedFailure: (upstream, reason) => monitor.reportFailing(upstream, reason),
      writeAccessLog: (lines) => writeAccessLog?.(lines),
      onReport: (report) => metrics?.add(report),
    },
    timers,
    logger,
  });
  opening.defer(() => workers.close());
  return { urls, processes: workers };
}

/** Resolves port 0 to a free port, so that all workers listen on the same one. */
async function withPorts(servers: ServerOptions): Promise<ServerOptions> {
  const { jsonRpc, rest } = servers;
  return {
    ...servers,
    ...(jsonRpc && { jsonRpc: await withPort("json-rpc", jsonRpc) }),
    ...(rest && { rest: await withPort("rest", rest) }),
  };
}

async function withPort(server: ServerName, listening: ListenOptions): Promise<ListenOptions> {
  try {
    return { ...listening, port: await findFreePort(listening) };
  } catch (error) {
    throw new ListenError(server, error as NodeJS.ErrnoException);
  }
}
