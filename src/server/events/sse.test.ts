import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { ByteBudget } from "../http/exchanges.ts";
import { createSignal } from "../http/http.test-support.ts";
import { Channel } from "./channel.test-support.ts";
import { createEventStreams, type EventStreamLimits } from "./sse.ts";
import { SseClient } from "./sse-client.test-support.ts";

/** A server whose every response is a stream of the channel's events. */
async function serve(channel: Channel, limits?: Partial<EventStreamLimits>, unread = new ByteBudget(2 ** 30)) {
  const streams = createEventStreams(unread, limits);
  const server = createServer((_req, res) => streams.serve(channel.feed, res));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    streams.close();
    server.closeAllConnections();
    server.close();
  });
  return { streams, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

it("a stream is open before anything happens, and says what it is", async () => {
  const { url } = await serve(new Channel());
  const { response } = await SseClient.connect(url);
  expect(response.statusCode).toBe(200);
  expect(response.headers).toMatchObject({ "content-type": "text/event-stream", "cache-control": "no-store" });
});

it("every event arrives in order, in the standard's form", async () => {
  const channel = new Channel();
  const { url } = await serve(channel);
  const client = await SseClient.connect(url);
  for (let number = 0; number < 500; number++) channel.publish({ number }, number % 2 ? "block" : "head");
  expect(await client.blocks.next()).toBe('event: head\ndata: {"number":0}');
  expect(await client.events.take(500)).toEqual(
    Array.from({ length: 500 }, (_, number) => ({ topic: number % 2 ? "block" : "head", data: { number } })),
  );
});

it("all readers get the same events", async () => {
  const channel = new Channel();
  const { url } = await serve(channel);
  const clients = await Promise.all(Array.from({ length: 10 }, () => SseClient.connect(url)));
  channel.publish(1);
  channel.publish(2, "block");
  for (const { events } of clients) {
    expect(await events.take(2)).toEqual([
      { topic: "head", data: 1 },
      { topic: "block", data: 2 },
    ]);
  }
});

it("a reader that leaves ends its feed", async () => {
  const ended = createSignal();
  const streams = createEventStreams(new ByteBudget(2 ** 30));
  const server = createServer((_req, res) => streams.serve({ topics: [], open: () => ended.happen }, res)).listen(
    0,
    "127.0.0.1",
  );
  onTestFinished(() => {
    server.close();
  });
  await once(server, "listening");
  const client = await SseClient.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client.response.destroy();
  await ended.happened;
  streams.close();
});

it("what all readers together leave unread has a limit, which cuts off only who is behind, and is given back", async () => {
  const channel = new Channel();
  const unread = new ByteBudget(200_000);
  const { url } = await serve(channel, {}, unread);
  const [stalled, prompt] = await Promise.all([SseClient.connect(url), SseClient.connect(url)]);
  stalled.response.pause();
  const text = "x".repeat(10_000);
  for (let number = 0; unread.held < unread.limit - 20_000; number++) {
    channel.publish({ number, text });
    expect(await prompt.events.next()).toMatchObject({ data: { number } });
  }
  for (const number of [1, 2, 3]) channel.publish({ number, text });
  expect(await prompt.events.take(3)).toMatchObject([1, 2, 3].map((number) => ({ data: { number } })));
  stalled.response.destroy();
  await vi.waitFor(() => expect(unread.held).toBe(0));
});

it("a reader that is too slow gets all events up to a point, is told so, and is cut off", async () => {
  const channel = new Channel();
  const { url } = await serve(channel, { bufferBytes: 256 * 1024 });
  const client = await SseClient.connect(url);
  client.response.pause();
  const published = await channel.publishUntilCut(32 * 1024);
  client.response.resume();
  const received = await client.events.take(published);
  const last = received.pop();
  const numbers = received.map(({ data }) => (data as { number: number }).number);
  expect(numbers).toEqual(Array.from({ length: published - 1 }, (_, number) => number));
  expect(last).toEqual({ topic: "error", data: { code: 503, message: expect.stringContaining("read too slowly") } });
  await client.closed;
});

it("a reader that is cut off because there are too many is told so", async () => {
  const channel = new Channel();
  const { url } = await serve(channel);
  const client = await SseClient.connect(url);
  channel.publish(1);
  channel.cutOffAll();
  expect(channel.readers).toBe(0);
  expect(await client.events.take(2)).toEqual([
    { topic: "head", data: 1 },
    { topic: "error", data: { code: 503, message: expect.stringContaining("as many readers") } },
  ]);
  await client.closed;
});

it("a reader that was told and still does not read is cut off without having heard it", async () => {
  const channel = new Channel();
  const { url, server } = await serve(channel, { bufferBytes: 256 * 1024, leaveMillis: 1 });
  const closed = new Promise((resolve) => {
    server.once("connection", (socket) => socket.once("close", resolve));
  });
  const client = await SseClient.connect(url);
  client.response.pause();
  await channel.publishUntilCut(32 * 1024);
  await closed;
});

it("a reader that does not read cannot hold up the closing", async () => {
  const channel = new Channel();
  const { url, server, streams } = await serve(channel, { bufferBytes: 2 ** 30, closeMillis: 1 });
  const closed = new Promise((resolve) => {
    server.once("connection", (socket) => socket.once("close", resolve));
  });
  const client = await SseClient.connect(url);
  client.response.pause();
  channel.publish("x".repeat(20_000_000));
  streams.close();
  await closed;
});

it("an idle reader is shown that the stream is alive", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const channel = new Channel();
  const { url } = await serve(channel, { keepAliveMillis: 1000 });
  const client = await SseClient.connect(url);
  vi.advanceTimersByTime(1000);
  expect(await client.blocks.next()).toBe(":");
  channel.publish(1);
  expect(await client.events.next()).toEqual({ topic: "head", data: 1 });
});

it("there is room for so many streams", async () => {
  const { url, streams } = await serve(new Channel(), { streams: 1 });
  expect(streams.hasRoom).toBe(true);
  await SseClient.connect(url);
  expect(streams.hasRoom).toBe(false);
});

it("closing ends the streams, also those that come too late", async () => {
  const channel = new Channel();
  const { url, streams } = await serve(channel);
  const client = await SseClient.connect(url);
  channel.publish(1);
  streams.close();
  expect(await client.events.next()).toEqual({ topic: "head", data: 1 });
  await client.closed;
  await (await SseClient.connect(url)).closed;
  expect(channel.readers).toBe(0);
});
