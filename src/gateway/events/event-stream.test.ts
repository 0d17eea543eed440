import { expect, it, onTestFinished } from "vitest";
import { createRecordingLogger } from "../../log/recording-logger.test-support.ts";
import { Arrivals } from "../../server/events/arrivals.test-support.ts";
import { HandTimers } from "../../timers.test-support.ts";
import type { UpstreamOptions } from "../options.ts";
import { EventStream } from "./event-stream.ts";
import { passUntil, ScriptedUpstream } from "./scripted-upstream.test-support.ts";
import { STEADY_TOPICS } from "./topics.ts";

async function follow(upstream: ScriptedUpstream, options: Partial<UpstreamOptions> = {}) {
  const timers = new HandTimers();
  const happened = new Arrivals<string>();
  const logger = createRecordingLogger();
  const stream = new EventStream({
    upstream: upstream.options(options),
    silentMillis: 24_000,
    hasNothingToTell: () => false,
    timers,
    logger,
    listener: {
      connected: () => happened.push("connected"),
      event: ({ topic, data }) => happened.push(`${topic} ${data}`),
      broke: (reason) => happened.push(`broke: ${reason.message}`),
    },
  });
  onTestFinished(() => stream.close());
  return { stream, timers, happened, logger };
}

it("tells the events of an upstream, with its prefix and its credentials, whatever chunks they come in", async () => {
  const upstream = await ScriptedUpstream.start("a");
  const { url } = upstream.options();
  const { happened } = await follow(upstream, { url: `${url}/prefix/`, authorization: "Bearer secret" });
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
  await timers.pass(250);
  expect(await happened.next()).toBe("broke: It answered the subscription to events with HTTP 400.");
  await timers.pass(499);
  const before = upstream.subscriptions.length;
  upstream.unknownTopics.clear();
  await timers.pass(1);
  expect(await happened.next()).toBe("connected");
  expect(upstream.subscriptions.length).toBe(before + 1);

  await timers.pass(20_000);
  upstream.tell("head", 1);
  expect(await happened.next()).toBe("head 1");
  await timers.pass(20_000);
  upstream.write(":\n\n");
  upstream.tell("head", 2);
  expect(await happened.next()).toBe("head 2");
  await passUntil(timers, 250, () => happened.left === 2);
  expect(await happened.take(2)).toEqual(["broke: There was no sign of life for more than 24000 ms.", "connected"]);
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
  await timers.pass(1000);
  expect(await happened.next()).toBe("attestation 1");
  await upstream.connected(1);
  upstream.tell("head", "b");
  upstream.tell("attestation", 2);
  expect(await happened.take(2)).toEqual(['head "b"', "attestation 2"]);
});
