import { expect, it, onTestFinished, vi } from "vitest";
import { FakeTimers } from "../../../test/support/fake-timers.ts";
import { createRecordingLogger } from "../../log/recording-logger.test-support.ts";
import { Arrivals } from "../../server/events/arrivals.test-support.ts";
import { passUntil, ScriptedUpstream } from "./scripted-upstream.test-support.ts";
import { SseClient, type SseClientOptions } from "./sse-client.ts";
import { ALWAYS_ON_TOPICS } from "./topics.ts";

async function setTopics(upstream: ScriptedUpstream, options: Partial<SseClientOptions> = {}) {
  const timers = new FakeTimers();
  const happened = new Arrivals<string>();
  const logger = createRecordingLogger();
  const stream = new SseClient({
    upstream: upstream.options(),
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

/** Opens a stream to an upstream that holds back the response to a change of topics. */
async function followBesideWaiting() {
  const upstream = await ScriptedUpstream.start("a");
  const topics = await setTopics(upstream);
  expect(await topics.happened.next()).toBe("connected");
  upstream.holdsBack = true;
  topics.stream.setTopics(["attestation"]);
  await upstream.connected(2);
  return { upstream, ...topics };
}

it("streams events with path prefix and credentials, in any chunks", async () => {
  const upstream = await ScriptedUpstream.start("a");
  const { url } = upstream.options();
  const { happened } = await setTopics(upstream, {
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
  const upstream = await ScriptedUpstream.start("a");
  const { happened, timers } = await setTopics(upstream);
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
  const upstream = await ScriptedUpstream.start("a");
  const { happened, timers } = await setTopics(upstream);
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
  const upstream = await ScriptedUpstream.start("a");
  upstream.unknownTopics.add("block_gossip").add("fast_confirmation");
  const { happened, stream, timers, logger } = await setTopics(upstream);
  expect(await happened.next()).toBe("connected");
  expect(upstream.subscriptions.at(-1)).toEqual(ALWAYS_ON_TOPICS.filter((topic) => topic !== "block_gossip"));
  stream.setTopics(["fast_confirmation", "attestation"]);
  const known = [...ALWAYS_ON_TOPICS.filter((topic) => topic !== "block_gossip"), "attestation"];
  await upstream.until(() => upstream.subscriptions.at(-1)?.join() === known.join());
  await passUntil(timers, 1000, () => upstream.connections === 1);
  expect(logger.records.map(({ fields }) => fields?.topics)).toEqual([
    "block_gossip",
    "block_gossip,fast_confirmation",
  ]);
});

it("adds topics without gaps or duplicates", async () => {
  const upstream = await ScriptedUpstream.start("a");
  const { happened, stream, timers } = await setTopics(upstream);
  expect(await happened.next()).toBe("connected");
  upstream.publish("head", "a");
  stream.setTopics(["attestation"]);
  await upstream.connected(2);
  upstream.publish("head", "b");
  upstream.publish("attestation", 1);
  upstream.publish("head", "b");
  expect(await happened.take(3)).toEqual(['head "a"', 'head "b"', 'head "b"']);
  await timers.advance(1000);
  expect(await happened.next()).toBe("attestation 1");
  await upstream.connected(1);
  upstream.publish("head", "b");
  upstream.publish("attestation", 2);
  expect(await happened.take(2)).toEqual(['head "b"', "attestation 2"]);
});

it("has no duplicates when the new connection repeats events", async () => {
  const { upstream, happened, timers } = await followBesideWaiting();
  upstream.publish("head", 1);
  upstream.publish("head", 2);
  upstream.publish("attestation", 1);
  expect(await happened.take(2)).toEqual(["head 1", "head 2"]);
  upstream.letGo();
  await passUntil(timers, 1000, () => upstream.connections === 1);
  upstream.publish("head", 3);
  expect(await happened.take(2)).toEqual(["attestation 1", "head 3"]);
});

it("keeps an upstream that sends headers late and lacks a topic", async () => {
  const upstream = await ScriptedUpstream.start("a");
  upstream.beginsWithEvent = true;
  upstream.unknownTopics.add("fast_confirmation");
  const { happened, stream, timers } = await setTopics(upstream);
  await upstream.connected();
  upstream.publish("head", 1);
  expect(await happened.take(2)).toEqual(["connected", "head 1"]);
  stream.setTopics(["fast_confirmation", "attestation"]);
  const all = [...ALWAYS_ON_TOPICS, "fast_confirmation", "attestation"];
  await upstream.until(() => upstream.subscriptions.length === 4);
  expect(upstream.subscriptions.slice(1, 2)).toEqual([all]);
  expect(upstream.subscriptions.slice(2).toSorted()).toEqual([["attestation"], ["fast_confirmation"]]);
  upstream.publish("head", 2);
  expect(await happened.next()).toBe("head 2");
  await passUntil(timers, 2000, () => upstream.subscriptions.length === 5);
  expect(upstream.subscriptions.at(-1)).toEqual([...ALWAYS_ON_TOPICS, "attestation"]);
  await upstream.connected(2);
  upstream.publish("attestation", 3);
  await passUntil(timers, 1000, () => upstream.connections === 1);
  expect(await happened.next()).toBe("attestation 3");
  expect(upstream.subscriptions.length).toBe(5);
});

it("opens no connection for an unsupported topic", async () => {
  const upstream = await ScriptedUpstream.start("a");
  upstream.unknownTopics.add("fast_confirmation");
  const { happened, stream, logger } = await setTopics(upstream);
  expect(await happened.next()).toBe("connected");
  stream.setTopics(["fast_confirmation"]);
  await vi.waitUntil(() => logger.records.length === 1);
  upstream.publish("head", 1);
  expect(await happened.next()).toBe("head 1");
  expect(upstream.subscriptions.slice(1)).toEqual([[...ALWAYS_ON_TOPICS, "fast_confirmation"], ["fast_confirmation"]]);
});

it("times out a subscription without headers", async () => {
  const upstream = await ScriptedUpstream.start("a");
  upstream.beginsWithEvent = true;
  const { happened, timers } = await setTopics(upstream);
  await upstream.connected();
  await timers.advance(24_000);
  await passUntil(timers, 1000, () => happened.left === 1);
  expect(await happened.next()).toBe("broke: It sent no data for more than 24000 ms.");
  await passUntil(timers, 250, () => upstream.subscriptions.length === 2);
  await timers.advance(20_000);
  upstream.publish("head", 1);
  expect(await happened.take(2)).toEqual(["connected", "head 1"]);
});

it("keeps its topics while an upstream rejects a change", async () => {
  const upstream = await ScriptedUpstream.start("a");
  const { happened, stream, timers, logger } = await setTopics(upstream);
  expect(await happened.next()).toBe("connected");
  upstream.isOverloaded = true;
  stream.setTopics(["attestation"]);
  await vi.waitUntil(() => logger.records.length === 1);
  expect(logger.records[0]).toMatchObject({
    level: "warn",
    fields: { upstream: "a", reason: "It answered the event subscription with HTTP 503." },
  });
  upstream.isOverloaded = false;
  upstream.holdsBack = true;
  await passUntil(timers, 1000, () => upstream.connections === 2);
  upstream.holdsBack = false;
  const heads: string[] = [];
  await passUntil(timers, 10_000, () => {
    heads.push(`head ${heads.length}`);
    upstream.publish("head", heads.length - 1);
    return upstream.subscriptions.length === 4;
  });
  expect(logger.records[1]?.fields?.reason).toBe("It sent no data for more than 24000 ms.");
  await passUntil(timers, 1000, () => upstream.connections === 1);
  upstream.publish("attestation", 1);
  expect(await happened.take(heads.length + 1)).toEqual([...heads, "attestation 1"]);
});

it("reconnects when an upstream breaks off during a change of topics", async () => {
  const { upstream, happened, timers } = await followBesideWaiting();
  upstream.holdsBack = false;
  upstream.breakOff(1);
  expect(await happened.next()).toMatch(/^broke: /);
  await upstream.connected(0);
  await passUntil(timers, 250, () => upstream.connections === 1);
  upstream.publish("attestation", 1);
  expect(await happened.take(2)).toEqual(["connected", "attestation 1"]);
});

it("tolerates an idle upstream during a change of topics", async () => {
  const upstream = await ScriptedUpstream.start("a");
  upstream.beginsWithEvent = true;
  const { happened, stream, timers } = await setTopics(upstream, { isIdle: () => true });
  await upstream.connected();
  await timers.advance(100_000);
  upstream.publish("head", 1);
  expect(await happened.take(2)).toEqual(["connected", "head 1"]);
  await timers.advance(100_000);
  stream.setTopics(["attestation"]);
  await upstream.connected(2);
  await timers.advance(100_000);
  upstream.publish("attestation", 1);
  await passUntil(timers, 1000, () => upstream.connections === 1);
  expect(await happened.next()).toBe("attestation 1");
  expect(upstream.subscriptions.length).toBe(2);
});
