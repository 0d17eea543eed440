import { UpstreamError } from "../exchange.ts";
import type { Probe } from "./probe.ts";

export interface Latency {
  /** Milliseconds. */
  readonly median: number;
  readonly p95: number;
  readonly calls: number;
}

const ROUNDS = 5;
const CHEAP = ["/eth/v1/node/syncing", "/eth/v1/beacon/headers/head", "/eth/v1/beacon/genesis"];
const SOME_VALIDATORS = Array.from({ length: 16 }, (_, index) => index).join(",");
const HEAVIER = ["/eth/v2/beacon/blocks/head", `/eth/v1/beacon/states/head/validators?id=${SOME_VALIDATORS}`];

/** How fast an upstream answers a handful of calls that cost little, and of some that cost more, one after the other. */
export async function measureLatency(probe: Probe): Promise<{ cheap?: Latency; heavier?: Latency }> {
  return { cheap: await latencyOf(probe, CHEAP), heavier: await latencyOf(probe, HEAVIER) };
}

async function latencyOf(probe: Probe, urls: readonly string[]): Promise<Latency | undefined> {
  const millis: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const url of urls) {
      try {
        const told = await probe.get(url);
        if (told.status === 200) millis.push(told.millis);
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error;
        // What does not answer now is not waited for again and again; that it did not is told with its operation.
        return summaryOf(millis);
      }
    }
  }
  return summaryOf(millis);
}

export function summaryOf(millis: readonly number[]): Latency | undefined {
  if (millis.length === 0) return undefined;
  const sorted = millis.toSorted((a, b) => a - b);
  const quantile = (part: number) => sorted[Math.ceil(part * sorted.length) - 1]!;
  return { median: quantile(0.5), p95: quantile(0.95), calls: sorted.length };
}
