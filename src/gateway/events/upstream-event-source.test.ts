import { describe, expect, it, onTestFinished } from "vitest";
import {
  block,
  CHAIN_SPEC,
  exitEvent,
  GENESIS,
  passUntil,
  StreamingUpstream,
} from "../../../test/support/gateway/events/streaming-upstream.ts";
import { ScriptedHealth } from "../../../test/support/gateway/upstream/scripted-health.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { Arrivals } from "../../../test/support/server/events/arrivals.ts";
import { FakeTimers } from "../../../test/support/time/fake-timers.ts";
import { UpstreamEventSource } from "./upstream-event-source.ts";

/** Far ahead of the clock. */
const AHEAD = block(2 ** 40);

/** Connects to an upstream. Requests for its head are answered by the test. */
async function connect() {
  const upstream = await StreamingUpstream.start("a", GENESIS);
  const health = new ScriptedHealth("a", "b");
  // An idle stream is not stale while the upstream is at the announced head.
  health.set("a", { head: GENESIS });
  health.set("b", { head: undefined });
  const timers = new FakeTimers();
  const logger = createRecordingLogger();
  const requests = new Arrivals<PromiseWithResolvers<Buffer | undefined>>();
  const events = new Arrivals<string>();
  const source = new UpstreamEventSource(
    upstream.options(),
    {
      chainSpec: CHAIN_SPEC,
      health,
      observer: { recordHead: () => {}, recordFinalized: () => {}, recordReorg: () => {} },
      timers,
      logger,
      fetch: () => {
        const request = Promise.withResolvers<Buffer | undefined>();
        requests.push(request);
        return request.promise;
      },
    },
    {
      onConnectionChange: () => {},
      onEvent: (_, { topic, data }) => events.push(`${topic} ${JSON.parse(data.toString()).slot ?? ""}`.trim()),
    },
  );
  onTestFinished(() => source.close());
  /** Answers the next request with the header of a block. */
  const reportHead = async (head: { slot: number }) => {
    upstream.setHead(block(head.slot));
    (await requests.next()).resolve(Buffer.from(JSON.stringify(upstream.answerTo("/eth/v1/beacon/headers/head"))));
  };
  await reportHead(GENESIS);
  await passUntil(timers, 0, () => source.isConnected);
  const publishBlock = (slot: number) => upstream.publishBlock(block(slot));
  const publishExit = () => upstream.publish("voluntary_exit", exitEvent(7));
  const publishInvalid = () => upstream.publish("voluntary_exit", {});
  const logged = (level: "warn" | "info") => logger.records.filter((record) => record.level === level);
  return { upstream, source, timers, requests, events, reportHead, publishBlock, publishExit, publishInvalid, logged };
}

describe("an event ahead of the clock", () => {
  it("is accepted in order if the upstream reports a head there", async () => {
    const { events, reportHead, publishBlock, publishExit, requests } = await connect();
    publishBlock(AHEAD.slot);
    publishExit();
    publishBlock(1);
    await reportHead(AHEAD);
    expect(await events.take(3)).toEqual([`block ${AHEAD.slot}`, "voluntary_exit", "block 1"]);
    // The head may advance by 64 slots without another request.
    publishBlock(AHEAD.slot + 64);
    expect(await events.next()).toBe(`block ${AHEAD.slot + 64}`);
    publishBlock(AHEAD.slot + 65);
    publishBlock(2);
    expect(await events.next()).toBe("block 2");
    expect(requests.left).toBe(0);
  });

  it("is skipped if the upstream reports an earlier head, and later events are not", async () => {
    const { events, reportHead, publishBlock, publishExit, logged } = await connect();
    publishBlock(AHEAD.slot);
    publishExit();
    await reportHead(GENESIS);
    expect(await events.next()).toBe("voluntary_exit");
    expect(events.left).toBe(0);
    expect(logged("warn")).toEqual([
      expect.objectContaining({
        message: "Invalid event from upstream, skipping",
        fields: { upstream: "a", topic: "block" },
      }),
    ]);
  });

  it("is skipped if the upstream does not report its head", async () => {
    const { events, requests, publishBlock, publishExit } = await connect();
    publishBlock(AHEAD.slot);
    (await requests.next()).reject(new Error("It did not answer."));
    publishExit();
    expect(await events.next()).toBe("voluntary_exit");
  });

  it("causes at most one request per second", async () => {
    const { events, timers, requests, reportHead, publishBlock, publishExit } = await connect();
    publishBlock(AHEAD.slot);
    await reportHead(GENESIS);
    publishBlock(AHEAD.slot);
    publishExit();
    await events.next();
    await timers.advance(999);
    publishBlock(AHEAD.slot);
    publishExit();
    await events.next();
    expect(requests.left).toBe(0);
    await timers.advance(1);
    publishBlock(AHEAD.slot);
    await reportHead(AHEAD);
    expect(await events.next()).toBe(`block ${AHEAD.slot}`);
  });

  it("is dropped if the upstream disconnects before it reports its head", async () => {
    const { upstream, source, timers, events, requests, reportHead, publishBlock, publishExit } = await connect();
    publishBlock(AHEAD.slot);
    const confirmation = await requests.next();
    upstream.breakOff();
    await passUntil(timers, 250, () => requests.left === 1);
    upstream.setHead(AHEAD);
    confirmation.resolve(Buffer.from(JSON.stringify(upstream.answerTo("/eth/v1/beacon/headers/head"))));
    await reportHead(GENESIS);
    await passUntil(timers, 0, () => source.isConnected);
    publishExit();
    expect(await events.next()).toBe("voluntary_exit");
    expect(events.left).toBe(0);
  });
});

it("warns again of invalid events only if there was none for a minute before a valid one", async () => {
  const { timers, events, publishInvalid, publishExit, logged } = await connect();
  const skipping = {
    message: "Invalid event from upstream, skipping",
    fields: { upstream: "a", topic: "voluntary_exit" },
  };
  const publish = async () => {
    publishInvalid();
    publishExit();
    await events.next();
  };
  await publish();
  await timers.advance(59_999);
  await publish();
  await timers.advance(59_999);
  publishExit();
  await events.next();
  expect(logged("warn")).toEqual([expect.objectContaining(skipping)]);
  expect(logged("info")).toEqual([]);
  await timers.advance(1);
  publishExit();
  await events.next();
  expect(logged("info")).toEqual([expect.objectContaining({ message: "Upstream sends valid events again" })]);
  await publish();
  expect(logged("warn")).toEqual([expect.objectContaining(skipping), expect.objectContaining(skipping)]);
});
