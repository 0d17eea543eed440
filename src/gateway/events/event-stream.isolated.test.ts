import { expect, it, onTestFinished, vi } from "vitest";
import { FakeTimers } from "../../../test/support/fake-timers.ts";
import { createRecordingLogger } from "../../log/recording-logger.test-support.ts";
import { Arrivals } from "../../server/events/arrivals.test-support.ts";
import { EventStream } from "./event-stream.ts";
import { ScriptedUpstream } from "./scripted-upstream.test-support.ts";

// By itself: the clock of undici, which all its connections have in common, stands still here but for what the test lets pass.
it("waits for the first event of an upstream that begins to answer with it", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const upstream = await ScriptedUpstream.start("a");
  upstream.beginsWithEvent = true;
  const happened = new Arrivals<string>();
  const stream = new EventStream({
    upstream: upstream.options(),
    silentMillis: 24_000,
    hasNothingToTell: () => false,
    timers: new FakeTimers(),
    logger: createRecordingLogger(),
    listener: {
      connected: () => happened.push("connected"),
      event: ({ topic, data }) => happened.push(`${topic} ${data}`),
      broke: (reason) => happened.push(`broke: ${reason.message}`),
    },
  });
  onTestFinished(async () => {
    await stream.close();
    vi.useRealTimers();
  });
  await upstream.connected();
  vi.advanceTimersByTime(24_000);
  upstream.tell("head", 1);
  expect(await happened.take(2)).toEqual(["connected", "head 1"]);
});
