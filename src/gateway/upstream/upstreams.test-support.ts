import { expect, onTestFinished } from "vitest";
import { FakeTimers } from "../../../test/support/fake-timers.ts";
import { Failure } from "../../errors/failure.ts";
import { createRecordingLogger } from "../../log/recording-logger.test-support.ts";
import type { UpstreamResponse } from "../exchange.ts";
import type { GatewayObserver } from "../observer.ts";
import type { GatewayOptions, UpstreamOptions } from "../options.ts";
import { SetConditions } from "./conditions.test-support.ts";
import { ScriptedUpstream } from "./scripted-upstream.test-support.ts";
import { Upstreams } from "./upstreams.ts";

export const HEDGE_MILLIS = 50;

interface Setting {
  names?: string[];
  broadcast?: GatewayOptions["broadcast"];
  upstreamOptions?: Record<string, Partial<UpstreamOptions>>;
}

/** Upstreams that answer as the test says, and what asks them. */
export async function openUpstreams({ names = ["a", "b"], broadcast = 1, upstreamOptions = {} }: Setting = {}) {
  const servers = await Promise.all(names.map((name) => new ScriptedUpstream(name).start()));
  const conditions = new SetConditions(...names);
  const timers = new FakeTimers();
  const events: string[] = [];
  const observer: GatewayObserver = {
    asked: (upstream, _method, outcome) => void events.push(`${upstream} ${outcome}`),
    askedAnother: (first, reason) => void events.push(`not ${first}: ${reason}`),
    disagreed: () => {},
    looked: () => {},
    cacheIs: () => {},
  };
  const suspects: string[] = [];
  const upstreams = new Upstreams({
    options: {
      upstreams: servers.map(({ name, options }) => ({ ...options, ...upstreamOptions[name] })),
      broadcast,
      hedgeMillis: HEDGE_MILLIS,
    },
    conditions,
    timers,
    logger: createRecordingLogger(),
    observer,
    onSuspect: (upstream, reason) => void suspects.push(`${upstream}: ${reason}`),
  });
  onTestFinished(async () => {
    await upstreams.close();
    await Promise.all(servers.map((server) => server.stop()));
  });
  const server = (name: string) => servers.find((each) => each.name === name)!;
  return { upstreams, conditions, timers, events, suspects, server };
}

export async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Failure);
  return error as Failure;
}

/** How many of so many reads each upstream answers. */
export async function answersOf(read: () => Promise<UpstreamResponse>, times: number): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (let i = 0; i < times; i++) {
    const { upstream } = await read();
    found[upstream] = (found[upstream] ?? 0) + 1;
  }
  return found;
}
