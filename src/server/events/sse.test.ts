import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { Channel } from "../../../test/support/server/events/channel.ts";
import { SseClient } from "../../../test/support/server/events/sse-client.ts";
import { createSignal } from "../../../test/support/server/http/http.ts";
import { ByteBudget } from "../http/request/byte-budget.ts";
import { createEventStreams, type EventStreamLimits } from "./sse.ts";

/** Opens a server that responds with the events from the channel. */
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

it("sends the headers before the first event", async () => {
  const { url } = await serve(new Channel());
  const { response } = await SseClient.connect(url);
  expect(response.statusCode).toBe(200);
  expect(response.headers).toMatchObject({ "content-type": "text/event-stream", "cache-control": "no-store" });
});

it("sends events in order, in the standard format", async () => {
  const channel = new Channel();
  const { url } = await serve(channel);
  const client = await SseClient.connect(url);
  for (let number = 0; number < 500; number++) channel.publish({ number }, number % 2 ? "block" : "head");
  expect(await client.blocks.next()).toBe('event: head\ndata: {"number":0}');
  expect(await client.events.take(500)).toEqual(
    Array.from({ length: 500 }, (_, number) => ({ topic: number % 2 ? "block" : "head", data: { number } })),
  );
});

it("sends the same events to all readers", async () => {
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

it("closes the feed when the reader disconnects", async () => {
  const ended = createSignal();
  const streams = createEventStreams(new ByteBudget(2 ** 30));
  const server = createServer((_req, res) => streams.serve({ topics: [], open: () => ended.trigger }, res)).listen(
    0,
    "127.0.0.1",
  );
  onTestFinished(() => {
    server.close();
  });
  await once(server, "listening");
  const client = await SseClient.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client.response.destroy();
  await ended.promise;
  streams.close();
});

it("limits unread bytes of all readers, disconnects only slow ones, and releases the budget", async () => {
  const channel = new Channel();
  const unread = new ByteBudget(200_000);
  const { url } = await serve(channel, {}, unread);
  const [stalled, prompt] = await Promise.all([SseClient.connect(url), SseClient.connect(url)]);
  stalled.response.pause();
  const text = "x".repeat(10_000);
  for (let number = 0; unread.reserved < unread.limit - 20_000; number++) {
    channel.publish({ number, text });
    expect(await prompt.events.next()).toMatchObject({ data: { number } });
  }
  for (const number of [1, 2, 3]) channel.publish({ number, text });
  expect(await prompt.events.take(3)).toMatchObject([1, 2, 3].map((number) => ({ data: { number } })));
  stalled.response.destroy();
  await vi.waitFor(() => expect(unread.reserved).toBe(0));
});

it("disconnects a slow reader with an error after the events so far", async () => {
  const channel = new Channel();
  const { url } = await serve(channel, { bufferBytes: 256 * 1024 });
  const client = await SseClient.connect(url);
  client.response.pause();
  const published = await channel.publishUntilDisconnected(32 * 1024);
  client.response.resume();
  const received = await client.events.take(published);
  const last = received.pop();
  const numbers = received.map(({ data }) => (data as { number: number }).number);
  expect(numbers).toEqual(Array.from({ length: published - 1 }, (_, number) => number));
  expect(last).toEqual({ topic: "error", data: { code: 503, message: expect.stringContaining("reads too slowly") } });
  await client.closed;
});

it("sends an error to readers disconnected on overload", async () => {
  const channel = new Channel();
  const { url } = await serve(channel);
  const client = await SseClient.connect(url);
  channel.publish(1);
  channel.disconnectAll();
  expect(channel.readers).toBe(0);
  expect(await client.events.take(2)).toEqual([
    { topic: "head", data: 1 },
    { topic: "error", data: { code: 503, message: expect.stringContaining("more subscribers than") } },
  ]);
  await client.closed;
});

it("disconnects a slow reader that does not read the error", async () => {
  const channel = new Channel();
  const { url, server } = await serve(channel, { bufferBytes: 256 * 1024, disconnectMillis: 1 });
  const closed = new Promise((resolve) => {
    server.once("connection", (socket) => socket.once("close", resolve));
  });
  const client = await SseClient.connect(url);
  client.response.pause();
  await channel.publishUntilDisconnected(32 * 1024);
  await closed;
});

it("closes despite readers that do not read", async () => {
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

it("sends keep-alive comments on idle streams", async () => {
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

it("limits the number of streams", async () => {
  const { url, streams } = await serve(new Channel(), { streams: 1 });
  expect(streams.hasRoom).toBe(true);
  await SseClient.connect(url);
  expect(streams.hasRoom).toBe(false);
});

it("ends all streams on close, including late ones", async () => {
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
