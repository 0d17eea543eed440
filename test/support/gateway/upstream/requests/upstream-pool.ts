import { expect, onTestFinished } from "vitest";
import { Failure } from "../../../../../src/errors/failure.ts";
import type { GatewayObserver } from "../../../../../src/gateway/metrics/gateway-observer.ts";
import type { GatewaySettings, UpstreamSettings } from "../../../../../src/gateway/settings.ts";
import { UpstreamPool } from "../../../../../src/gateway/upstream/requests/upstream-pool.ts";
import type { UpstreamResponse } from "../../../../../src/gateway/upstream/upstream-call.ts";
import { createRecordingLogger } from "../../../log/recording-logger.ts";
import { FakeTimers } from "../../../time/fake-timers.ts";
import { CHAIN_SPEC } from "../../cache/method-calls.ts";
import { ScriptedHealth } from "../scripted-health.ts";
import { ScriptedUpstream } from "../scripted-upstream.ts";

export const HEDGE_MILLIS = 50;

interface Setting {
  names?: string[];
  broadcast?: GatewaySettings["broadcast"];
  upstreamOptions?: Record<string, Partial<UpstreamSettings>>;
  submissionMillis?: number;
}

/** Starts scripted upstreams and a pool that uses them. */
export async function openPool({
  names = ["a", "b"],
  broadcast = 1,
  upstreamOptions = {},
  submissionMillis,
}: Setting = {}) {
  const servers = await Promise.all(names.map((name) => new ScriptedUpstream(name).start()));
  const health = new ScriptedHealth(...names);
  const timers = new FakeTimers();
  const events: string[] = [];
  const observer: GatewayObserver = {
    onRequestEnd: (upstream, _method, outcome) => void events.push(`${upstream} ${outcome}`),
    onFailover: (first, reason) => void events.push(`not ${first}: ${reason}`),
    onCircuitOpen: (upstream) => void events.push(`circuit of ${upstream} open`),
    onDisagreement: () => {},
    onCacheLookup: () => {},
    onCacheState: () => {},
    onClientCall: () => {},
  };
  const failing: string[] = [];
  const upstreams = new UpstreamPool({
    settings: {
      upstreams: servers.map(({ name, options }) => ({ ...options, ...upstreamOptions[name] })),
      broadcast,
      hedgeDelayMillis: HEDGE_MILLIS,
      validation: true,
    },
    chainSpec: CHAIN_SPEC,
    health,
    timers,
    logger: createRecordingLogger(),
    observer,
    submissionMillis,
    onRepeatedFailure: (upstream, reason) => void failing.push(`${upstream}: ${reason}`),
  });
  onTestFinished(async () => {
    await upstreams.close();
    await Promise.all(servers.map((server) => server.stop()));
  });
  const server = (name: string) => servers.find((each) => each.name === name)!;
  return { upstreams, health, timers, events, failing, server };
}

export async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Failure);
  return error as Failure;
}

/** Counts the answers of each upstream. */
export async function answersOf(read: () => Promise<UpstreamResponse>, times: number): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (let i = 0; i < times; i++) {
    const { upstream } = await read();
    found[upstream] = (found[upstream] ?? 0) + 1;
  }
  return found;
}
