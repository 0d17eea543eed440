import { type Counter, type Histogram, Registry } from "prom-client";
import { CallMetrics } from "../../metrics/call-metrics.ts";
import { Instruments } from "../../metrics/instruments.ts";
import { addProcessMetrics } from "../../metrics/process-metrics.ts";
import { addEventMetrics, addServerMetrics, type WatchedServers } from "../../metrics/server-metrics.ts";
import { HEALTH_STATES, type HealthTracker, type UpstreamHealth } from "../upstream/upstream-health.ts";
import type { EventCount, GatewayCounts } from "./gateway-counters.ts";
import type { ServerReport } from "./server-report.ts";

const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The processes that serve requests. Loads are taken from their last reports. */
export interface ServerProcesses extends WatchedServers {
  readonly running: number;
  /** How many exited unexpectedly. */
  readonly replaced: number;
  /** Event subscribers by topic. */
  readonly subscriberCounts: ReadonlyMap<string, number>;
}

interface GatewayMetricsParts {
  health: HealthTracker;
  events: { readonly eventCounts: ReadonlyMap<string, number> };
  /** True if a shared cache is configured. */
  hasCache: boolean;
}

/** Prometheus metrics of a gateway, aggregated over all its processes. */
export class GatewayMetrics {
  readonly #registry = new Registry();
  readonly #calls: CallMetrics;
  readonly #requests: Counter<"upstream" | "outcome">;
  readonly #seconds: Histogram<"upstream">;
  readonly #counts: Readonly<Record<EventCount["kind"], (tally: EventCount) => void>>;
  #isCacheUp = false;
  #processes: ServerProcesses | undefined;

  constructor({ health, events, hasCache }: GatewayMetricsParts) {
    const instruments = new Instruments(this.#registry);
    addHealthMetrics(instruments, health);
    this.#requests = instruments.counter(
      "fanal_upstream_requests_total",
      "Requests to an upstream, by HTTP status, invalid for a rejected answer, or error without one",
      ["upstream", "outcome"],
    );
    this.#seconds = instruments.histogram(
      "fanal_upstream_request_seconds",
      "Time to the response of an upstream; for a streamed response, to its headers",
      SECONDS_BUCKETS,
      ["upstream"],
    );
    const another = instruments.counter(
      "fanal_upstream_asked_another_total",
      "Reads sent to another upstream because this one was slow or failed",
      ["upstream", "reason"],
    );
    const circuits = instruments.counter(
      "fanal_upstream_circuit_opened_total",
      "How often the circuit breaker of an upstream opened because many requests failed",
      ["upstream"],
    );
    const disagreements = instruments.counter(
      "fanal_upstream_disagreements_total",
      "Quorum reads on which the upstreams disagreed",
      ["method"],
    );
    const lookups = instruments.counter(
      "fanal_gateway_lookups_total",
      "Cache lookups, in memory or the shared cache, by whether the answer was found or missing",
      ["where", "outcome"],
    );
    const clientCalls = instruments.counter(
      "fanal_gateway_client_calls_total",
      "Calls of a client with a key: admitted, or rejected because they exceed its budget",
      ["client", "outcome"],
    );
    const clientUnits = instruments.counter(
      "fanal_gateway_client_units_total",
      "Cost units of the admitted calls of a client with a key",
      ["client"],
    );
    this.#counts = {
      clientCall: ({ subject, detail, count }) => clientCalls.inc({ client: subject, outcome: detail }, count),
      clientUnits: ({ subject, count }) => clientUnits.inc({ client: subject }, count),
      failover: ({ subject, detail, count }) => another.inc({ upstream: subject, reason: detail }, count),
      circuitOpen: ({ subject, count }) => circuits.inc({ upstream: subject }, count),
      disagreement: ({ subject, count }) => disagreements.inc({ method: subject }, count),
      cacheLookup: ({ subject, detail, count }) => lookups.inc({ where: subject, outcome: detail }, count),
    };
    instruments.gauge("fanal_gateway_cache_up", "1 while the shared cache is available, else 0", () =>
      Number(hasCache && this.#isCacheUp),
    );
    instruments.totals("fanal_gateway_events_total", "Events published to subscribers", ["topic"], () =>
      Array.from(events.eventCounts, ([topic, count]) => [{ topic }, count] as const),
    );
    instruments.gauge("fanal_gateway_workers", "Serving processes", () => this.#processes?.running ?? 0);
    instruments.total(
      "fanal_gateway_workers_replaced_total",
      "Worker processes that exited unexpectedly and were replaced",
      () => this.#processes?.replaced ?? 0,
    );
    this.#calls = new CallMetrics(instruments);
    addServerMetrics(instruments, () => this.#processes);
    addEventMetrics(instruments, { subscribers: () => this.#processes?.subscriberCounts ?? new Map() });
    addProcessMetrics(instruments, this.#registry);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Adds the counts of one process. */
  add({ calls, gateway }: Pick<ServerReport, "calls"> & Partial<Pick<ServerReport, "gateway">>): void {
    for (const tally of calls) this.#calls.add(tally);
    if (gateway) this.#addTally(gateway);
  }

  /** Sets the processes whose load is reported. */
  watch(processes: ServerProcesses): void {
    this.#processes = processes;
  }

  /** Returns all metrics in Prometheus text format. */
  async text(): Promise<string> {
    await this.#processes?.refresh();
    return this.#registry.metrics();
  }

  close(): void {
    this.#registry.clear();
  }

  #addTally({ requests, counts, cache }: GatewayCounts): void {
    for (const { upstream, outcome, seconds } of requests) {
      this.#requests.inc({ upstream, outcome }, seconds.length);
      const series = this.#seconds.labels({ upstream });
      for (const duration of seconds) series.observe(duration);
    }
    for (const tally of counts) this.#counts[tally.kind](tally);
    if (cache !== undefined) this.#isCacheUp = cache === "up";
  }
}

function addHealthMetrics(instruments: Instruments, health: HealthTracker): void {
  const each = (read: (condition: UpstreamHealth) => number | undefined) => () =>
    health.all.flatMap((condition) => {
      const value = read(condition);
      return value === undefined ? [] : [[{ upstream: condition.upstream }, value] as const];
    });
  instruments.gauges(
    "fanal_upstream_condition",
    "1 for the health state of an upstream: ready, behind, late, down or foreign; 0 for the others",
    ["upstream", "condition"],
    () =>
      health.all.flatMap(({ upstream, state }) =>
        HEALTH_STATES.map((condition) => [{ upstream, condition }, Number(condition === state)] as const),
      ),
  );
  instruments.gauges(
    "fanal_upstream_head_slot",
    "Head slot of an upstream",
    ["upstream"],
    each(({ head }) => head?.slot),
  );
  instruments.gauges(
    "fanal_upstream_finalized_epoch",
    "Finalized epoch of an upstream",
    ["upstream"],
    each(({ finalized }) => finalized?.epoch),
  );
  instruments.gauges(
    "fanal_upstream_sync_distance_slots",
    "Sync distance that an upstream reports",
    ["upstream"],
    each(({ syncDistance }) => syncDistance),
  );
  instruments.gauge(
    "fanal_gateway_floor_slot",
    "Head floor: slot of the newest head that clients have seen",
    () => health.headFloor,
  );
}
