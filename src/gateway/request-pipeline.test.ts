import { describe, expect, it, onTestFinished } from "vitest";
import { CHAIN_SPEC } from "../../test/support/gateway/cache/method-calls.ts";
import { currentUpstream } from "../../test/support/gateway/gateway.ts";
import { ScriptedHealth } from "../../test/support/gateway/upstream/scripted-health.ts";
import { createCall } from "../../test/support/gateway/upstream/upstream-call.ts";
import { createRecordingLogger, type LogRecord } from "../../test/support/log/recording-logger.ts";
import { FakeTimers, flushPromises } from "../../test/support/time/fake-timers.ts";
import { SYSTEM_TIMERS, type Timers } from "../async/timers.ts";
import { DeadlineTimer } from "../server/http/deadline.ts";
import { LocalBudgetStore } from "./clients/budget-store.ts";
import type { RequestOutcome } from "./metrics/gateway-observer.ts";
import { MethodPolicies } from "./policies/method-policies.ts";
import { RequestPipeline } from "./request-pipeline.ts";
import { DEFAULT_GATEWAY_SETTINGS } from "./settings.ts";

/** Opens the pipeline of one upstream, or of those named. */
async function openPipeline({
  names = ["a"],
  callTimeoutMillis = 30_000,
  timers = SYSTEM_TIMERS,
}: {
  names?: string[];
  callTimeoutMillis?: number;
  timers?: Timers;
} = {}) {
  const upstreams = await Promise.all(names.map(currentUpstream));
  const health = new ScriptedHealth(...names);
  const failing: string[] = [];
  const events: string[] = [];
  const log: LogRecord[] = [];
  const observer = {
    onRequestEnd: (upstream: string, _method: string, outcome: RequestOutcome) =>
      void events.push(`${upstream} ${outcome}`),
    onFailover: () => {},
    onCircuitOpen: (upstream: string) => void events.push(`circuit of ${upstream} open`),
    onDisagreement: () => {},
    onCacheLookup: () => {},
    onClientCall: () => {},
    onCacheState: () => {},
  };
  const settings = {
    ...DEFAULT_GATEWAY_SETTINGS,
    validation: false,
    upstreams: upstreams.map(({ options }) => options),
    hedgeDelayMillis: 10,
  };
  const pipeline = new RequestPipeline(settings, new MethodPolicies([], []), {
    chainSpec: CHAIN_SPEC,
    health,
    revision: new Int32Array(2),
    budgetStore: new LocalBudgetStore(timers),
    timers,
    logger: createRecordingLogger(log),
    observer,
    callTimeoutMillis,
    onRepeatedFailure: (...failure) => failing.push(failure.join(": ")),
  });
  onTestFinished(() => pipeline.close());
  return { pipeline, upstreams, health, failing, events, log };
}

it("closes a retired pipeline only after a read that waits for the head floor", async () => {
  const { pipeline, health } = await openPipeline();
  health.raiseHeadFloor(101);
  const reading = pipeline.reader.read(createCall({ params: { state_id: "head" } }));
  await flushPromises();
  const retired = pipeline.retire();
  health.set("a", { headSlot: 101 });
  expect(await reading).toMatchObject({ upstream: "a", status: 200 });
  await retired;
});

it("rejects a read that reaches the upstreams of a closed pipeline, without a failure of an upstream", async () => {
  const { pipeline, failing } = await openPipeline();
  await pipeline.retire();
  for (let read = 0; read < 10; read++) {
    await expect(pipeline.reader.read(createCall())).rejects.toThrow("The gateway is shutting down.");
  }
  expect(failing).toEqual([]);
});

describe("a read that an upstream does not answer", () => {
  const SHORT = { callTimeoutMillis: 50 };

  it("is an error of a hanging only upstream when its time limit ends", async () => {
    const { pipeline, upstreams, failing, events } = await openPipeline(SHORT);
    upstreams[0]!.isFrozen = true;
    for (let read = 0; read < 5; read++) {
      await expect(pipeline.reader.read(createCall())).rejects.toThrow("Waiting for a.");
    }
    expect(events.filter((event) => event === "a error")).toHaveLength(5);
    expect(events.filter((event) => event === "circuit of a open")).toHaveLength(1);
    const message = /^a: 5 requests in a row failed\. Last error: a did not answer x within 0\.\d+ s\.$/;
    expect(failing).toEqual([expect.stringMatching(message)]);
  });

  it("is an error too when the call as a whole exceeds its time limit", async () => {
    const { pipeline, upstreams, events } = await openPipeline();
    upstreams[0]!.isFrozen = true;
    const deadlines = new DeadlineTimer(20);
    const reads = [{ cost: "cheap" } as const, { cost: "heavy" } as const].map((method) =>
      pipeline.reader.read({ ...createCall({ method }), cancellation: deadlines.begin() }),
    );
    for (const result of await Promise.allSettled(reads)) expect(result.status).toBe("rejected");
    await flushPromises();
    expect(events).toEqual(["a error", "a error"]);
  });

  it("is no error of an upstream when the client disconnects", async () => {
    const { pipeline, upstreams, failing, events } = await openPipeline();
    upstreams[0]!.isFrozen = true;
    const arrived = upstreams[0]!.received("/eth/v1/x");
    const deadline = new DeadlineTimer(30_000).begin();
    const read = pipeline.reader.read({ ...createCall(), cancellation: deadline });
    await arrived;
    deadline.cancel();
    await expect(read).rejects.toThrow("disconnected");
    expect([events, failing]).toEqual([[], []]);
  });

  it("opens no circuit if it is heavy", async () => {
    const { pipeline, upstreams, events } = await openPipeline(SHORT);
    upstreams[0]!.isFrozen = true;
    const heavy = createCall({ method: { cost: "heavy" } });
    for (let read = 0; read < 5; read++) await expect(pipeline.reader.read(heavy)).rejects.toThrow("Waiting for a.");
    expect(events).toEqual(new Array(5).fill("a error"));
  });

  it("is an error of each pending upstream", async () => {
    const { pipeline, upstreams, events } = await openPipeline({ ...SHORT, names: ["a", "b"] });
    for (const upstream of upstreams) upstream.isFrozen = true;
    await expect(pipeline.reader.read(createCall())).rejects.toThrow(/Waiting for (a and b|b and a)\./);
    expect(events.toSorted()).toEqual(["a error", "b error"]);
  });

  it("is no error of an upstream that was overtaken by a hedge", async () => {
    const timers = new FakeTimers();
    const { pipeline, upstreams, failing, events } = await openPipeline({ names: ["a", "b"], timers });
    upstreams[0]!.isFrozen = true;
    for (let count = 0; count < 6; count++) {
      let isPending = true;
      const read = pipeline.reader.read(createCall()).finally(() => {
        isPending = false;
      });
      while (isPending) await timers.advance(1);
      expect(await read).toMatchObject({ upstream: "b" });
    }
    await timers.advance(60_000);
    expect(events).toEqual(new Array(6).fill("b 200"));
    expect(failing).toEqual([]);
  });
});
