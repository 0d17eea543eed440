import { expect, it, onTestFinished, vi } from "vitest";
import { FakeTimers } from "../../../../test/support/time/fake-timers.ts";
import { createRecordingLogger } from "../../../log/recording-logger.test-support.ts";
import { Arrivals } from "../../../server/events/arrivals.test-support.ts";
import { ScriptedUpstream } from "../scripted-upstream.test-support.ts";
import { SseClient } from "./sse-client.ts";

// Isolated, because the clock of undici, which all its connections share, is mocked.
it("waits for an upstream that sends headers with the first event", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const upstream = await ScriptedUpstream.start("a");
  upstream.beginsWithEvent = true;
  const happened = new Arrivals<string>();
  const stream = new SseClient({
    upstream: upstream.options(),
    topics: ["head"],
    timeoutMillis: 24_000,
    isIdle: () => false,
    timers: new FakeTimers(),
    logger: createRecordingLogger(),
    listener: {
      connected: () => happened.push("connected"),
      event: ({ topic, data }) => happened.push(`${topic} ${data}`),
      disconnected: (reason) => happened.push(`broke: ${reason.message}`),
    },
  });
  onTestFinished(async () => {
    await stream.close();
    vi.useRealTimers();
  });
  await upstream.connected();
  vi.advanceTimersByTime(24_000);
  upstream.publish("head", 1);
  expect(await happened.take(2)).toEqual(["connected", "head 1"]);
});
