import { Semaphore } from "../../async/semaphore.ts";
import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import { UpstreamError } from "../upstream/upstream-call.ts";
import type { Probe } from "./probe.ts";

export interface Latency {
  /** Milliseconds. */
  readonly median: number;
  readonly p95: number;
  readonly calls: number;
}

const ROUNDS = 5;
const CHEAP = ["/eth/v1/node/syncing", "/eth/v1/beacon/headers/head", "/eth/v1/beacon/genesis"];
const SOME_VALIDATORS = Array.from({ length: 16 }, (_, index) => `id=${index}`).join("&");
const HEAVIER = ["/eth/v2/beacon/blocks/head", `/eth/v1/beacon/states/head/validators?${SOME_VALIDATORS}`];

/** After this time the next request may start, so that an upstream that hangs does not block the others. */
const MAX_SLOT_MILLIS = 500;

export interface Latencies {
  readonly cheap?: Latency;
  readonly heavier?: Latency;
}

/**
 * Measures the latency of cheap and heavier requests. Sends one request at a time to all upstreams together, because
 * several on one machine would slow each other down.
 */
export function measureLatencies(
  probes: readonly Probe[],
  timers: Pick<Timers, "sleep"> = SYSTEM_TIMERS,
): Promise<Latencies[]> {
  const limiter = new Semaphore(1);
  const millisOf = async (probe: Probe, url: string) => {
    await limiter.wait();
    const answered = new AbortController();
    const release = () => limiter.release();
    timers.sleep(MAX_SLOT_MILLIS, answered.signal).then(release, release);
    try {
      const { status, millis } = await probe.get(url);
      return status === 200 ? [millis] : [];
    } finally {
      answered.abort();
    }
  };
  return Promise.all(probes.map((probe) => latenciesOf((url) => millisOf(probe, url))));
}

/** Stops after the first request without a response. The operation checks report it. */
async function latenciesOf(millisOf: (url: string) => Promise<number[]>): Promise<Latencies> {
  const cheap: number[] = [];
  const heavier: number[] = [];
  try {
    for (const [urls, millis] of [
      [CHEAP, cheap],
      [HEAVIER, heavier],
    ] as const) {
      for (let round = 0; round < ROUNDS; round++) {
        for (const url of urls) millis.push(...(await millisOf(url)));
      }
    }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
  }
  return { cheap: summaryOf(cheap), heavier: summaryOf(heavier) };
}

export function summaryOf(millis: readonly number[]): Latency | undefined {
  if (millis.length === 0) return undefined;
  const sorted = millis.toSorted((a, b) => a - b);
  const quantile = (part: number) => sorted[Math.ceil(part * sorted.length) - 1]!;
  return { median: quantile(0.5), p95: quantile(0.95), calls: sorted.length };
}
