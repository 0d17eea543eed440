import { ClosingStack } from "../async/closing-stack.ts";
import { SYSTEM_TIMERS, type Timers } from "../async/timers.ts";
import { encodeJson } from "../json/encode.ts";
import type { Logger } from "../log/logger.ts";
import { createMetricsServer } from "../metrics/metrics-server.ts";
import type { WriteLines } from "../server/http/access-log.ts";
import { ListenError } from "../server/listen-error.ts";
import type { ProbeAnswer, Probes } from "../server/rest/probes.ts";
import { healthOf, readinessOf } from "./calls/own.ts";
import type { ChainFacts } from "./chain-facts.ts";
import type { Conditions } from "./condition.ts";
import { MergedFeeds } from "./events/merged-feeds.ts";
import type { GatewayMetrics, ServingProcesses } from "./gateway-metrics.ts";
import type { GatewayOptions } from "./options.ts";
import {
  GatewayServing,
  type Listening,
  type ServedOptions,
  type ServedUrls,
  type ServerName,
  type ServingReport,
} from "./serving.ts";
import { UpstreamWatch } from "./upstream/upstream-watch.ts";
import { freePort } from "./workers/free-port.ts";
import { Workers } from "./workers/workers.ts";

interface GatewayParts {
  options: GatewayOptions;
  facts: ChainFacts;
  served: ServedOptions;
  /** Where metrics are served; left out when nothing is measured. */
  metrics?: Omit<Listening, "access"> | undefined;
  /** Gets the lines of the access log; left out when there is none. */
  writeAccess?: WriteLines | undefined;
  /** How many processes serve; with one, this one does. */
  workers: number;
  /** How long everything goes on to be served, but for readiness, when it is closed; none unless given. */
  drainMillis?: number;
  timers?: Timers;
  logger: Logger;
}

/** How often what was observed is counted although nobody looks, so that it does not grow. */
const COUNT_MILLIS = 1000;

interface GatewayFacets {
  conditions: Conditions;
  urls: ServedUrls;
  metricsUrl: string | undefined;
  /** Resolves when nothing more is to be served. */
  drain(): Promise<void>;
}

/**
 * The interface of a node in front of others. What there must be one of, the watch over the upstreams and their events, is in this
 * process; what serves is here, too, or in workers. All that was opened is closed in reverse order.
 */
export class Gateway {
  readonly conditions: Conditions;
  /** Undefined for a server that was not asked for. */
  readonly jsonRpcUrl: string | undefined;
  readonly restUrl: string | undefined;
  readonly metricsUrl: string | undefined;
  readonly #opened: ClosingStack;
  readonly #drain: () => Promise<void>;
  #closed: Promise<void> | undefined;

  static async open(parts: GatewayParts): Promise<Gateway> {
    const { options, facts, timers = SYSTEM_TIMERS, logger } = parts;
    await using opening = new ClosingStack();
    const watch = new UpstreamWatch({ options, facts, timers, logger });
    opening.defer(() => watch.close());
    await watch.start();
    const events = new MergedFeeds({
      upstreams: options.upstreams,
      conditions: watch,
      notes: watch,
      facts,
      timers,
      logger,
      ask: (upstream, path) => watch.ask(upstream, path),
      cache: options.cache,
    });
    opening.defer(() => events.close());
    const metrics = parts.metrics && (await createMetrics(watch, events, options));
    const watched = { watch, events, metrics, timers };
    const { urls, processes } =
      parts.workers === 1 ? await serveHere(parts, watched, opening) : await serveInWorkers(parts, watched, opening);
    metrics?.watch(processes);
    let isDraining = false;
    const probes = probesOf(watch, () => isDraining);
    const metricsUrl = metrics && (await serveMetrics(metrics, probes, parts, opening));
    const drain = async () => {
      if (!parts.drainMillis) return;
      isDraining = true;
      logger.info("The gateway is not ready any more, and goes on to serve", { seconds: parts.drainMillis / 1000 });
      processes.drain();
      await timers.sleep(parts.drainMillis, new AbortController().signal);
    };
    return new Gateway({ conditions: watch, urls, metricsUrl, drain }, opening.move());
  }

  private constructor({ conditions, urls, metricsUrl, drain }: GatewayFacets, opened: ClosingStack) {
    this.conditions = conditions;
    this.jsonRpcUrl = urls["json-rpc"];
    this.restUrl = urls.rest;
    this.metricsUrl = metricsUrl;
    this.#drain = drain;
    this.#opened = opened;
  }

  /** A gateway goes on whatever happens to its upstreams and workers. */
  onFailure(_callback: (failure: unknown) => void): void {}

  /** Says for a while that it is not ready if it is to, lets running calls finish, then closes all its parts. */
  close(): Promise<void> {
    this.#closed ??= this.#drain().then(() => this.#opened[Symbol.asyncDispose]());
    return this.#closed;
  }
}

/** What there is one of. */
interface Watched {
  watch: UpstreamWatch;
  events: MergedFeeds;
  metrics: GatewayMetrics | undefined;
  timers: Timers;
}

interface Serving {
  urls: ServedUrls;
  /** `drain` has them say that they are not ready. */
  processes: ServingProcesses & { drain(): void };
}

/** The library for it is loaded only when somebody wants metrics. */
async function createMetrics(
  conditions: Conditions,
  events: MergedFeeds,
  { cache }: GatewayOptions,
): Promise<GatewayMetrics> {
  const { GatewayMetrics } = await import("./gateway-metrics.ts");
  return new GatewayMetrics({ conditions, events, hasCache: cache !== undefined });
}

/** Health probes for the port of the metrics, answered by what this process knows of the upstreams. */
function probesOf(conditions: Conditions, isDraining: () => boolean): Probes {
  return new Map<string, () => Promise<ProbeAnswer>>([
    [
      "/fanal/v1/ready",
      async () => {
        const data = readinessOf(conditions.all, isDraining());
        return { status: data.ready ? 200 : 503, body: encodeJson({ data }) };
      },
    ],
    ["/eth/v1/node/health", async () => ({ status: healthOf(conditions.all) })],
  ]);
}

async function serveMetrics(
  metrics: GatewayMetrics,
  probes: Probes,
  { metrics: where, logger }: GatewayParts,
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

async function serveHere(parts: GatewayParts, watched: Watched, opening: ClosingStack): Promise<Serving> {
  const { watch, events, metrics, timers } = watched;
  const serving = await GatewayServing.open({
    ...parts,
    conditions: watch,
    events,
    onSuspect: (upstream, reason) => watch.suspect(upstream, reason),
    isMeasured: metrics !== undefined,
    timers,
  });
  opening.defer(() => serving.close());
  let loads: ServingReport["loads"] = [];
  const count = () => {
    const report = serving.report();
    loads = report.loads;
    metrics?.add(report);
  };
  if (metrics) opening.defer(timers.every(COUNT_MILLIS, count));
  const processes = {
    running: 1,
    replaced: 0,
    lag: undefined,
    get loads() {
      return loads;
    },
    get readers() {
      return events.readers;
    },
    refresh: async () => count(),
    drain: () => serving.drain(),
  };
  return { urls: serving.urls, processes };
}

async function serveInWorkers(parts: GatewayParts, watched: Watched, opening: ClosingStack): Promise<Serving> {
  const { options, facts, served, writeAccess, workers: count, logger } = parts;
  const { watch, events, metrics, timers } = watched;
  const { workers, urls } = await Workers.start({
    count,
    order: {
      options,
      facts,
      served: await withPorts(served),
      isMeasured: metrics !== undefined,
      isLogged: writeAccess !== undefined,
    },
    conditions: watch,
    office: {
      events,
      suspect: (upstream, reason) => watch.suspect(upstream, reason),
      writeAccess: (lines) => writeAccess?.(lines),
      observe: (report) => metrics?.add(report),
    },
    timers,
    logger,
  });
  opening.defer(() => workers.close());
  return { urls, processes: workers };
}

/** With ports that are free now, and that all workers know by their numbers. */
async function withPorts(served: ServedOptions): Promise<ServedOptions> {
  const { jsonRpc, rest } = served;
  return {
    ...served,
    ...(jsonRpc && { jsonRpc: await withPort("json-rpc", jsonRpc) }),
    ...(rest && { rest: await withPort("rest", rest) }),
  };
}

async function withPort(server: ServerName, listening: Listening): Promise<Listening> {
  try {
    return { ...listening, port: await freePort(listening) };
  } catch (error) {
    throw new ListenError(server, error as NodeJS.ErrnoException);
  }
}
