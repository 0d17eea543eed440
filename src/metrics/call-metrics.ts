import type { Counter } from "prom-client";
import type { CallServer } from "../server/call-observer.ts";
import type { CallStats } from "../server/call-stats.ts";
import type { Instruments } from "./instruments.ts";

const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Label for unknown methods, whose names are unbounded. */
const UNKNOWN_METHOD = "unknown";

/** Metrics for one method on one server. */
interface CallSeries {
  seconds: { observe(seconds: number): void };
  bytes: { inc(count: number): void };
  inFlight: { inc(count: number): void };
}

type CallLabel = "server" | "method";

/** Prometheus metrics for API calls: durations, errors, response bytes and calls in flight. */
export class CallMetrics {
  readonly #errors: Counter<CallLabel | "code">;
  readonly #makeSeries: (labels: Record<CallLabel, string>) => CallSeries;
  /** Caches the lookup by labels, which dominates the cost. */
  readonly #series = new Map<string, CallSeries>();

  constructor(instruments: Instruments) {
    const labelNames = ["server", "method"] as const;
    const seconds = instruments.histogram(
      "fanal_api_call_seconds",
      "Duration of calls until the first byte of the response",
      SECONDS_BUCKETS,
      labelNames,
    );
    const bytes = instruments.counter(
      "fanal_api_answer_bytes_total",
      "Bytes of responses to calls, before compression",
      labelNames,
    );
    const inFlight = instruments.upDownCounter("fanal_api_calls_in_flight", "Calls in flight", labelNames);
    this.#errors = instruments.counter(
      "fanal_api_call_errors_total",
      "Failed calls by JSON-RPC error code or HTTP status",
      [...labelNames, "code"] as const,
    );
    this.#makeSeries = (labels) => ({
      seconds: seconds.labels(labels),
      bytes: bytes.labels(labels),
      inFlight: inFlight.labels(labels),
    });
  }

  /** Adds the statistics for one method, which servers report in batches. */
  add({ server, method = UNKNOWN_METHOD, begun, seconds, errorCodes, bytes }: CallStats): void {
    const series = this.#seriesOf(server, method);
    series.inFlight.inc(begun - seconds.length);
    for (const duration of seconds) series.seconds.observe(duration);
    for (const code of errorCodes) this.#errors.inc({ server, method, code: String(code) });
    series.bytes.inc(bytes);
  }

  #seriesOf(server: CallServer, method: string): CallSeries {
    const key = `${server} ${method}`;
    const existing = this.#series.get(key);
    if (existing) return existing;
    const series = this.#makeSeries({ server, method });
    this.#series.set(key, series);
    return series;
  }
}
