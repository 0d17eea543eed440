import { type Counter, type Histogram, Registry } from "prom-client";
import { CallMetrics } from "../metrics/call-metrics.ts";
import { Instruments } from "../metrics/instruments.ts";
import { addProcessMetrics } from "../metrics/process-metrics.ts";
import { addEventMetrics, addServerMetrics, type WatchedServers } from "../metrics/server-metrics.ts";
import { type Condition, type Conditions, FITNESSES } from "./condition.ts";
import type { ServingReport } from "./serving.ts";
import type { CountTally, GatewayTally } from "./tallies.ts";

const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The processes that serve, of which is known what they had under way when they were last asked. */
export interface ServingProcesses extends WatchedServers {
  readonly running: number;
  /** How many ended by themselves. */
  readonly replaced: number;
  /** How many read events, by topic. */
  readonly readers: ReadonlyMap<string, number>;
}

interface GatewayMetricsParts {
  conditions: Conditions;
  /** `told` says how many events there were, by topic. */
  events: { readonly told: ReadonlyMap<string, number> };
  /** Whether what is final is shared with other gateways. */
  hasCache: boolean;
}

/** Everything that is measured of a gateway, of all its processes together, in the words of Prometheus. */
export class GatewayMetrics {
  readonly #registry = new Registry();
  readonly #calls: CallMetrics;
  readonly #requests: Counter<"upstream" | "outcome">;
  readonly #seconds: Histogram<"upstream">;
  readonly #counts: Readonly<Record<CountTally["what"], (tally: CountTally) => void>>;
  #isCacheUp = false;
  #processes: ServingProcesses | undefined;

  constructor({ conditions, events, hasCache }: GatewayMetricsParts) {
    const instruments = new Instruments(this.#registry);
    addConditionMetrics(instruments, conditions);
    this.#requests = instruments.counter(
      "fanal_upstream_requests_total",
      "Requests to an upstream, by the HTTP status of its answer, or error when it gave none",
      ["upstream", "outcome"],
    );
    this.#seconds = instruments.histogram(
      "fanal_upstream_request_seconds",
      "How long an upstream took until its answer, or its beginning, was there",
      SECONDS_BUCKETS,
      ["upstream"],
    );
    const another = instruments.counter(
      "fanal_upstream_asked_another_total",
      "Questions for which another upstream was asked, too, because this one was slow or failed",
      ["upstream", "reason"],
    );
    const disagreements = instruments.counter(
      "fanal_upstream_disagreements_total",
      "Questions on whose answer the upstreams did not agree",
      ["method"],
    );
    const lookups = instruments.counter(
      "fanal_gateway_lookups_total",
      "Looks for an answer that was kept, by where, memory or cache, and whether it was found or missing",
      ["where", "outcome"],
    );
    this.#counts = {
      askedAnother: ({ of, how, count }) => another.inc({ upstream: of, reason: how }, count),
      disagreed: ({ of, count }) => disagreements.inc({ method: of }, count),
      looked: ({ of, how, count }) => lookups.inc({ where: of, outcome: how }, count),
    };
    instruments.gauge("fanal_gateway_cache_up", "1 while the cache that gateways share can be used, else 0", () =>
      Number(hasCache && this.#isCacheUp),
    );
    instruments.totals("fanal_gateway_events_total", "Events that were told to those who read them", ["topic"], () =>
      Array.from(events.told, ([topic, count]) => [{ topic }, count] as const),
    );
    instruments.gauge("fanal_gateway_workers", "Processes that serve", () => this.#processes?.running ?? 0);
    instruments.total(
      "fanal_gateway_workers_replaced_total",
      "Processes that ended by themselves and were replaced",
      () => this.#processes?.replaced ?? 0,
    );
    this.#calls = new CallMetrics(instruments);
    addServerMetrics(instruments, () => this.#processes);
    addEventMetrics(instruments, { subscribers: () => this.#processes?.readers ?? new Map() });
    addProcessMetrics(instruments, this.#registry);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Counts what a process that serves tells. */
  add({ calls, gateway }: Pick<ServingReport, "calls"> & Partial<Pick<ServingReport, "gateway">>): void {
    for (const tally of calls) this.#calls.add(tally);
    if (gateway) this.#addTally(gateway);
  }

  /** Shows what those who serve have under way from now on. */
  watch(processes: ServingProcesses): void {
    this.#processes = processes;
  }

  /** All metrics as they are now, in Prometheus' text format. */
  async text(): Promise<string> {
    await this.#processes?.refresh();
    return this.#registry.metrics();
  }

  close(): void {
    this.#registry.clear();
  }

  #addTally({ asked, counts, cache }: GatewayTally): void {
    for (const { upstream, outcome, seconds } of asked) {
      this.#requests.inc({ upstream, outcome }, seconds.length);
      const series = this.#seconds.labels({ upstream });
      for (const taken of seconds) series.observe(taken);
    }
    for (const tally of counts) this.#counts[tally.what](tally);
    if (cache !== undefined) this.#isCacheUp = cache === "up";
  }
}

function addConditionMetrics(instruments: Instruments, conditions: Conditions): void {
  const each = (read: (condition: Condition) => number | undefined) => () =>
    conditions.all.flatMap((condition) => {
      const value = read(condition);
      return value === undefined ? [] : [[{ upstream: condition.upstream }, value] as const];
    });
  instruments.gauges(
    "fanal_upstream_condition",
    "1 for the condition that an upstream is in: ready, behind, late, down or foreign; 0 for the others",
    ["upstream", "condition"],
    () =>
      conditions.all.flatMap(({ upstream, fitness }) =>
        FITNESSES.map((condition) => [{ upstream, condition }, Number(condition === fitness)] as const),
      ),
  );
  instruments.gauges(
    "fanal_upstream_head_slot",
    "Slot of the head of an upstream",
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
    "How far an upstream says that it has to sync",
    ["upstream"],
    each(({ syncDistance }) => syncDistance),
  );
  instruments.gauge(
    "fanal_gateway_floor_slot",
    "Slot of the head that clients have been told; they get nothing older about the head",
    () => conditions.floor,
  );
}
