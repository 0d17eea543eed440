import { expect, it, onTestFinished, vi } from "vitest";
import { FakeTimers } from "../../../test/support/fake-timers.ts";
import { createRecordingLogger } from "../../log/recording-logger.test-support.ts";
import { Arrivals } from "../../server/events/arrivals.test-support.ts";
import { EventStream, type EventStreamOptions } from "./event-stream.ts";
import { passUntil, ScriptedUpstream } from "./scripted-upstream.test-support.ts";
import { STEADY_TOPICS } from "./topics.ts";

async function follow(upstream: ScriptedUpstream, options: Partial<EventStreamOptions> = {}) {
  const timers = new FakeTimers();
  const happened = new Arrivals<string>();
  const logger = createRecordingLogger();
  const stream = new EventStream({
    upstream: upstream.options(),
    silentMillis: 24_000,
    hasNothingToTell: () => false,
    timers,
    logger,
    listener: {
      connected: () => happened.push("connected"),
      event: ({ topic, data }) => happened.push(`${topic} ${data}`),
      broke: (reason) => happened.push(`broke: ${reason.message}`),
    },
    ...options,
  });
  onTestFinished(() => stream.close());
  return { stream, timers, happened, logger };
}

/** An upstream that is followed, and holds back its answer on a second connection, for another topic. */
async function followBesideWaiting() {
  const upstream = await ScriptedUpstream.start("a");
  const followed = await follow(upstream);
  expect(await followed.happened.next()).toBe("connected");
  upstream.holdsBack = true;
  followed.stream.follow(["attestation"]);
  await upstream.connected(2);
  return { upstream, ...followed };
}

it("tells the events of an upstream, with its prefix and its credentials, whatever chunks they come in", async () => {
  const upstream = await ScriptedUpstream.start("a");
  const { url } = upstream.options();
  const { happened } = await follow(upstream, {
    upstream: upstream.options({ url: `${url}/prefix/`, authorization: "Bearer secret" }),
  });
  expect(await happened.next()).toBe("connected");
  expect(upstream.subscriptions).toEqual([STEADY_TOPICS]);
  expect([...upstream.authorizations]).toEqual(["Bearer secret"]);
  upstream.write(":\n\nevent: he");
  upstream.write('ad\ndata: {"slot":"1"}\n\nevent: block\ndata: 2\n\n');
  expect(await happened.take(2)).toEqual(['head {"slot":"1"}', "block 2"]);
});

it("asks again, and waits longer each time, when an upstream breaks off, refuses or is silent", async () => {
  const upstream = await ScriptedUpstream.start("a");
  const { happened, timers } = await follow(upstream);
  expect(await happened.next()).toBe("connected");
  upstream.breakOff();
  expect(await happened.next()).toMatch(/^broke: /);
  for (const topic of STEADY_TOPICS) upstream.unknownTopics.add(topic);
  await timers.advance(250);
  expect(await happened.next()).toBe("broke: It answered the subscription to events with HTTP 400.");
  await timers.advance(499);
  const before = upstream.subscriptions.length;
  upstream.unknownTopics.clear();
  await timers.advance(1);
  expect(await happened.next()).toBe("connected");
  expect(upstream.subscriptions.length).toBe(before + 1);

  await timers.advance(20_000);
  upstream.tell("head", 1);
  expect(await happened.next()).toBe("head 1");
  await timers.advance(20_000);
  upstream.write(":\n\n");
  upstream.tell("head", 2);
  expect(await happened.next()).toBe("head 2");
  await passUntil(timers, 250, () => happened.left === 2);
  expect(await happened.take(2)).toEqual(["broke: There was no sign of life for more than 24000 ms.", "connected"]);
});

it("asks again soon after every stream that told something or was open for a while", async () => {
  const upstream = await ScriptedUpstream.start("a");
  const { happened, timers } = await follow(upstream);
  for (let time = 0; time < 4; time++) {
    expect(await happened.next()).toBe("connected");
    if (time % 2 === 0) {
      upstream.tell("head", time);
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

it("leaves out the topics that an upstream does not know", async () => {
  const upstream = await ScriptedUpstream.start("a");
  upstream.unknownTopics.add("block_gossip").add("fast_confirmation");
  const { happened, stream, timers, logger } = await follow(upstream);
  expect(await happened.next()).toBe("connected");
  expect(upstream.subscriptions.at(-1)).toEqual(STEADY_TOPICS.filter((topic) => topic !== "block_gossip"));
  stream.follow(["fast_confirmation", "attestation"]);
  const known = [...STEADY_TOPICS.filter((topic) => topic !== "block_gossip"), "attestation"];
  await upstream.until(() => upstream.subscriptions.at(-1)?.join() === known.join());
  await passUntil(timers, 1000, () => upstream.connections === 1);
  expect(logger.records.map(({ fields }) => fields?.topics)).toEqual([
    "block_gossip",
    "block_gossip,fast_confirmation",
  ]);
});

it("follows further topics without missing an event or telling one twice", async () => {
  const upstream = await ScriptedUpstream.start("a");
  const { happened, stream, timers } = await follow(upstream);
  expect(await happened.next()).toBe("connected");
  upstream.tell("head", "a");
  stream.follow(["attestation"]);
  await upstream.connected(2);
  upstream.tell("head", "b");
  upstream.tell("attestation", 1);
  upstream.tell("head", "b");
  expect(await happened.take(3)).toEqual(['head "a"', 'head "b"', 'head "b"']);
  await timers.advance(1000);
  expect(await happened.next()).toBe("attestation 1");
  await upstream.connected(1);
  upstream.tell("head", "b");
  upstream.tell("attestation", 2);
  expect(await happened.take(2)).toEqual(['head "b"', "attestation 2"]);
});

it("tells nothing twice or backward when the answer with further topics begins late with what happened meanwhile", async () => {
  const { upstream, happened, timers } = await followBesideWaiting();
  upstream.tell("head", 1);
  upstream.tell("head", 2);
  upstream.tell("attestation", 1);
  expect(await happened.take(2)).toEqual(["head 1", "head 2"]);
  upstream.letGo();
  await passUntil(timers, 1000, () => upstream.connections === 1);
  upstream.tell("head", 3);
  expect(await happened.take(2)).toEqual(["attestation 1", "head 3"]);
});

it("goes on with an upstream that begins to answer with the first event and does not know a topic", async () => {
  const upstream = await ScriptedUpstream.start("a");
  upstream.beginsWithEvent = true;
  upstream.unknownTopics.add("fast_confirmation");
  const { happened, stream, timers } = await follow(upstream);
  await upstream.connected();
  upstream.tell("head", 1);
  expect(await happened.take(2)).toEqual(["connected", "head 1"]);
  stream.follow(["fast_confirmation", "attestation"]);
  const all = [...STEADY_TOPICS, "fast_confirmation", "attestation"];
  await upstream.until(() => upstream.subscriptions.length === 4);
  expect(upstream.subscriptions.slice(1, 2)).toEqual([all]);
  expect(upstream.subscriptions.slice(2).toSorted()).toEqual([["attestation"], ["fast_confirmation"]]);
  upstream.tell("head", 2);
  expect(await happened.next()).toBe("head 2");
  await passUntil(timers, 2000, () => upstream.subscriptions.length === 5);
  expect(upstream.subscriptions.at(-1)).toEqual([...STEADY_TOPICS, "attestation"]);
  await upstream.connected(2);
  upstream.tell("attestation", 3);
  await passUntil(timers, 1000, () => upstream.connections === 1);
  expect(await happened.next()).toBe("attestation 3");
  expect(upstream.subscriptions.length).toBe(5);
});

it("opens nothing for a topic that an upstream does not know", async () => {
  const upstream = await ScriptedUpstream.start("a");
  upstream.unknownTopics.add("fast_confirmation");
  const { happened, stream, logger } = await follow(upstream);
  expect(await happened.next()).toBe("connected");
  stream.follow(["fast_confirmation"]);
  await vi.waitUntil(() => logger.records.length === 1);
  upstream.tell("head", 1);
  expect(await happened.next()).toBe("head 1");
  expect(upstream.subscriptions.slice(1)).toEqual([[...STEADY_TOPICS, "fast_confirmation"], ["fast_confirmation"]]);
});

it("gives up a subscription that does not begin to answer for as long as a stream may be silent", async () => {
  const upstream = await ScriptedUpstream.start("a");
  upstream.beginsWithEvent = true;
  const { happened, timers } = await follow(upstream);
  await upstream.connected();
  await timers.advance(24_000);
  await passUntil(timers, 1000, () => happened.left === 1);
  expect(await happened.next()).toBe("broke: There was no sign of life for more than 24000 ms.");
  await passUntil(timers, 250, () => upstream.subscriptions.length === 2);
  await timers.advance(20_000);
  upstream.tell("head", 1);
  expect(await happened.take(2)).toEqual(["connected", "head 1"]);
});

it("goes on with the topics that it follows while an upstream does not let others be followed", async () => {
  const upstream = await ScriptedUpstream.start("a");
  const { happened, stream, timers, logger } = await follow(upstream);
  expect(await happened.next()).toBe("connected");
  upstream.isOverloaded = true;
  stream.follow(["attestation"]);
  await vi.waitUntil(() => logger.records.length === 1);
  expect(logger.records[0]).toMatchObject({
    level: "warn",
    fields: { upstream: "a", reason: "It answered the subscription to events with HTTP 503." },
  });
  upstream.isOverloaded = false;
  upstream.holdsBack = true;
  await passUntil(timers, 1000, () => upstream.connections === 2);
  upstream.holdsBack = false;
  const heads: string[] = [];
  await passUntil(timers, 10_000, () => {
    heads.push(`head ${heads.length}`);
    upstream.tell("head", heads.length - 1);
    return upstream.subscriptions.length === 4;
  });
  expect(logger.records[1]?.fields?.reason).toBe("There was no sign of life for more than 24000 ms.");
  await passUntil(timers, 1000, () => upstream.connections === 1);
  upstream.tell("attestation", 1);
  expect(await happened.take(heads.length + 1)).toEqual([...heads, "attestation 1"]);
});

it("asks again when an upstream breaks off while other topics are about to be followed", async () => {
  const { upstream, happened, timers } = await followBesideWaiting();
  upstream.holdsBack = false;
  upstream.breakOff(1);
  expect(await happened.next()).toMatch(/^broke: /);
  await upstream.connected(0);
  await passUntil(timers, 250, () => upstream.connections === 1);
  upstream.tell("attestation", 1);
  expect(await happened.take(2)).toEqual(["connected", "attestation 1"]);
});

it("waits for an upstream that has nothing to tell, also for the other topics that it is to tell", async () => {
  const upstream = await ScriptedUpstream.start("a");
  upstream.beginsWithEvent = true;
  const { happened, stream, timers } = await follow(upstream, { hasNothingToTell: () => true });
  await upstream.connected();
  await timers.advance(100_000);
  upstream.tell("head", 1);
  expect(await happened.take(2)).toEqual(["connected", "head 1"]);
  await timers.advance(100_000);
  stream.follow(["attestation"]);
  await upstream.connected(2);
  await timers.advance(100_000);
  upstream.tell("attestation", 1);
  await passUntil(timers, 1000, () => upstream.connections === 1);
  expect(await happened.next()).toBe("attestation 1");
  expect(upstream.subscriptions.length).toBe(2);
});
