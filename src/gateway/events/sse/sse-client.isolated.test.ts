import { expect, it, onTestFinished, vi } from "vitest";
import { StreamingUpstream } from "../../../../test/support/gateway/events/streaming-upstream.ts";
import { createRecordingLogger } from "../../../../test/support/log/recording-logger.ts";
import { Arrivals } from "../../../../test/support/server/events/arrivals.ts";
import { FakeTimers } from "../../../../test/support/time/fake-timers.ts";
import { SseClient } from "./sse-client.ts";

// Isolated, because the clock of undici, which all its connections share, is mocked.
it("waits for an upstream that sends headers with the first event", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const upstream = await StreamingUpstream.start("a");
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
