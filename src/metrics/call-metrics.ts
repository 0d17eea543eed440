import type { Counter } from "prom-client";
import type { CallServer } from "../server/call-observer.ts";
import type { CallTally } from "../server/call-tallies.ts";
import type { Instruments } from "./instruments.ts";

const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Of calls by names that are none: callers can make up any number of them. */
const UNKNOWN_METHOD = "unknown";

/** What is counted of the calls of one method over one server. */
interface CallSeries {
  seconds: { observe(seconds: number): void };
  bytes: { inc(count: number): void };
  inFlight: { inc(count: number): void };
}

type CallLabel = "server" | "method";

/** Counts the calls of all servers, which tell of them now and then. */
export class CallMetrics {
  readonly #errors: Counter<CallLabel | "code">;
  readonly #makeSeries: (labels: Record<CallLabel, string>) => CallSeries;
  /** To find a series by its labels costs more than all the rest. */
  readonly #series = new Map<string, CallSeries>();

  constructor(instruments: Instruments) {
    const labelNames = ["server", "method"] as const;
    const seconds = instruments.histogram(
      "fanal_api_call_seconds",
      "How long calls took until their answer, or its beginning, was there; its count is that of the calls",
      SECONDS_BUCKETS,
      labelNames,
    );
    const bytes = instruments.counter(
      "fanal_api_answer_bytes_total",
      "Bytes of the answers to calls, before compression",
      labelNames,
    );
    const inFlight = instruments.levels("fanal_api_calls_in_flight", "Calls that are not answered yet", labelNames);
    this.#errors = instruments.counter(
      "fanal_api_call_errors_total",
      "Calls that were answered with an error, by JSON-RPC error code or HTTP status",
      [...labelNames, "code"] as const,
    );
    this.#makeSeries = (labels) => ({
      seconds: seconds.labels(labels),
      bytes: bytes.labels(labels),
      inFlight: inFlight.labels(labels),
    });
  }

  add({ server, method = UNKNOWN_METHOD, begun, seconds, errorCodes, bytes }: CallTally): void {
    const series = this.#seriesOf(server, method);
    series.inFlight.inc(begun - seconds.length);
    for (const taken of seconds) series.seconds.observe(taken);
    for (const code of errorCodes) this.#errors.inc({ server, method, code: String(code) });
    series.bytes.inc(bytes);
  }

  #seriesOf(server: CallServer, method: string): CallSeries {
    const key = `${server} ${method}`;
    const known = this.#series.get(key);
    if (known) return known;
    const series = this.#makeSeries({ server, method });
    this.#series.set(key, series);
    return series;
  }
}
