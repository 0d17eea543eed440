import { expect, it, onTestFinished } from "vitest";
import { passUntil, StreamingUpstream } from "../../../../test/support/gateway/events/streaming-upstream.ts";
import { createRecordingLogger } from "../../../../test/support/log/recording-logger.ts";
import { Arrivals } from "../../../../test/support/server/events/arrivals.ts";
import { FakeTimers } from "../../../../test/support/time/fake-timers.ts";
import { ALWAYS_ON_TOPICS } from "../topics.ts";
import { SseClient, type SseClientOptions } from "./sse-client.ts";

async function subscribe(upstream: StreamingUpstream, options: Partial<SseClientOptions> = {}) {
  const timers = new FakeTimers();
  const happened = new Arrivals<string>();
  const logger = createRecordingLogger();
  const stream = new SseClient({
    upstream: upstream.options(),
    topics: ALWAYS_ON_TOPICS,
    timeoutMillis: 24_000,
    isIdle: () => false,
    timers,
    logger,
    listener: {
      connected: () => happened.push("connected"),
      event: ({ topic, data }) => happened.push(`${topic} ${data}`),
      disconnected: (reason) => happened.push(`broke: ${reason.message}`),
    },
    ...options,
  });
  onTestFinished(() => stream.close());
  return { stream, timers, happened, logger };
}

it("streams events with path prefix and credentials, in any chunks", async () => {
  const upstream = await StreamingUpstream.start("a");
  const { url } = upstream.options();
  const { happened } = await subscribe(upstream, {
    upstream: upstream.options({ url: `${url}/prefix/`, authorization: "Bearer secret" }),
  });
  expect(await happened.next()).toBe("connected");
  expect(upstream.subscriptions).toEqual([ALWAYS_ON_TOPICS]);
  expect([...upstream.authorizations]).toEqual(["Bearer secret"]);
  upstream.write(":\n\nevent: he");
  upstream.write('ad\ndata: {"slot":"1"}\n\nevent: block\ndata: 2\n\n');
  expect(await happened.take(2)).toEqual(['head {"slot":"1"}', "block 2"]);
});

it("reconnects with backoff after a disconnection, rejection or timeout", async () => {
  const upstream = await StreamingUpstream.start("a");
  const { happened, timers } = await subscribe(upstream);
  expect(await happened.next()).toBe("connected");
  upstream.breakOff();
  expect(await happened.next()).toMatch(/^broke: /);
  for (const topic of ALWAYS_ON_TOPICS) upstream.unknownTopics.add(topic);
  await timers.advance(250);
  expect(await happened.next()).toBe("broke: It answered the event subscription with HTTP 400.");
  await timers.advance(499);
  const before = upstream.subscriptions.length;
  upstream.unknownTopics.clear();
  await timers.advance(1);
  expect(await happened.next()).toBe("connected");
  expect(upstream.subscriptions.length).toBe(before + 1);

  await timers.advance(20_000);
  upstream.publish("head", 1);
  expect(await happened.next()).toBe("head 1");
  await timers.advance(20_000);
  upstream.write(":\n\n");
  upstream.publish("head", 2);
  expect(await happened.next()).toBe("head 2");
  await passUntil(timers, 250, () => happened.left === 2);
  expect(await happened.take(2)).toEqual(["broke: It sent no data for more than 24000 ms.", "connected"]);
});

it("resets the backoff after a useful stream", async () => {
  const upstream = await StreamingUpstream.start("a");
  const { happened, timers } = await subscribe(upstream);
  for (let time = 0; time < 4; time++) {
    expect(await happened.next()).toBe("connected");
    if (time % 2 === 0) {
      upstream.publish("head", time);
      expect(await happened.next()).toBe(`head ${time}`);
    } else {
      await timers.advance(2000);
    }
    upstream.breakOff();
    expect(await happened.next()).toMatch(/^broke: /);
    await timers.advance(250);
  }
  expect(await happened.next()).toBe("connected");
});

it("drops unsupported topics", async () => {
  const upstream = await StreamingUpstream.start("a");
  upstream.unknownTopics.add("block_gossip");
  const { happened, logger } = await subscribe(upstream);
  expect(await happened.next()).toBe("connected");
  expect(upstream.subscriptions.at(-1)).toEqual(ALWAYS_ON_TOPICS.filter((topic) => topic !== "block_gossip"));
  expect(logger.records.map(({ fields }) => fields?.topics)).toEqual(["block_gossip"]);
});

it("drops an unsupported topic of an upstream that sends headers with the first event", async () => {
  const upstream = await StreamingUpstream.start("a");
  upstream.beginsWithEvent = true;
  upstream.unknownTopics.add("fast_confirmation");
  const { happened, timers } = await subscribe(upstream, { topics: ["fast_confirmation", "head"] });
  await upstream.until(() => upstream.subscriptions.length === 3);
  await passUntil(timers, 2000, () => upstream.subscriptions.length === 4);
  expect(upstream.subscriptions.at(-1)).toEqual(["head"]);
  await upstream.connected();
  upstream.publish("head", 1);
  expect(await happened.take(2)).toEqual(["connected", "head 1"]);
});

it("times out a subscription without headers", async () => {
  const upstream = await StreamingUpstream.start("a");
  upstream.beginsWithEvent = true;
  const { happened, timers } = await subscribe(upstream);
  await upstream.connected();
  await timers.advance(24_000);
  await passUntil(timers, 1000, () => happened.left === 1);
  expect(await happened.next()).toBe("broke: It sent no data for more than 24000 ms.");
  await passUntil(timers, 250, () => upstream.subscriptions.length === 2);
  await timers.advance(20_000);
  upstream.publish("head", 1);
  expect(await happened.take(2)).toEqual(["connected", "head 1"]);
});

it("tolerates a silent upstream that is idle", async () => {
  const upstream = await StreamingUpstream.start("a");
  const { happened, timers } = await subscribe(upstream, { isIdle: () => true });
  expect(await happened.next()).toBe("connected");
  await timers.advance(100_000);
  upstream.publish("head", 1);
  expect(await happened.next()).toBe("head 1");
  expect(upstream.subscriptions.length).toBe(1);
});
