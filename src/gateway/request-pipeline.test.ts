import { expect, it, onTestFinished } from "vitest";
import { flushPromises } from "../../test/support/time/fake-timers.ts";
import { SYSTEM_TIMERS } from "../async/timers.ts";
import { createRecordingLogger } from "../log/recording-logger.test-support.ts";
import { CHAIN_SPEC } from "./cache/method-calls.test-support.ts";
import { LocalBudgetStore } from "./clients/budget-store.ts";
import { currentUpstream } from "./gateway.test-support.ts";
import { MethodPolicies } from "./policies/method-policies.ts";
import { RequestPipeline } from "./request-pipeline.ts";
import { DEFAULT_GATEWAY_SETTINGS } from "./settings.ts";
import { HealthStub } from "./upstream/health-stub.test-support.ts";
import { createCall } from "./upstream/upstream-call.test-support.ts";

/** Opens the pipeline of one upstream. */
async function openPipeline() {
  const upstream = await currentUpstream("a");
  const health = new HealthStub("a");
  const failing: string[] = [];
  const settings = { ...DEFAULT_GATEWAY_SETTINGS, validation: false, upstreams: [upstream.options] };
  const pipeline = new RequestPipeline(settings, new MethodPolicies([], []), {
    chainSpec: CHAIN_SPEC,
    health,
    revision: new Int32Array(2),
    budgetStore: new LocalBudgetStore(SYSTEM_TIMERS),
    timers: SYSTEM_TIMERS,
    logger: createRecordingLogger(),
    callTimeoutMillis: 30_000,
    onRepeatedFailure: (name) => failing.push(name),
  });
  onTestFinished(() => pipeline.close());
  return { pipeline, health, failing };
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
