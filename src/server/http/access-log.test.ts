import { expect, it, onTestFinished } from "vitest";
import { Channel } from "../../../test/support/server/events/channel.ts";
import { SseClient } from "../../../test/support/server/events/sse-client.ts";
import { openTestServer as openJsonRpc, requestText } from "../../../test/support/server/jsonrpc/server.ts";
import { Client } from "../../../test/support/server/jsonrpc/websocket/client.ts";
import { json, openTestServer as openRest } from "../../../test/support/server/rest/server.ts";
import { CallStatsCollector } from "../call-stats.ts";
import { AccessLog, UPSTREAM_HEADER } from "./access-log.ts";

/** Creates an access log in memory. The entries are complete once the servers are closed. */
function setup() {
  let text = "";
  const log = new AccessLog((lines) => {
    text += lines;
  });
  const entries = () =>
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  return { log, entries };
}

const common = {
  time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  client: "127.0.0.1",
  millis: expect.any(Number),
};
/** Expected for requests that are processed, unlike rejected requests and WebSocket messages. */
const processed = { queueMillis: expect.any(Number) };

it("logs HTTP requests with methods, errors, status, bytes and upstream", async () => {
  const { log: accessLog, entries } = setup();
  const tallies = new CallStatsCollector();
  const answered = { body: Buffer.from("1"), headers: { [UPSTREAM_HEADER]: "first" } };
  const server = await openJsonRpc({ accessLog, observer: tallies, handlers: { ask: async () => answered } });
  const single = await server.post(requestText({ method: '"ask"' }));
  const batch = [requestText({}), requestText({}), requestText({ method: '"none"' })];
  const several = await server.post(`[${batch.join()}]`);
  const refused = await server.post("{", {
    headers: { "Content-Type": "text/plain", Authorization: "Bearer a-secret-word" },
  });
  await server.close();
  const call = { ...common, server: "json-rpc", request: "POST /" };
  expect(entries()).toEqual([
    { ...call, ...processed, status: 200, methods: ["ask"], bytes: single.bytes.length, upstream: "first" },
    {
      ...call,
      ...processed,
      status: 200,
      methods: ["echo", "unknown"],
      calls: 3,
      errors: [-32601],
      // Does not count the brackets and commas of the batch.
      bytes: several.bytes.length - 4,
    },
    { ...call, status: 415, methods: [], bytes: refused.bytes.length },
  ]);
  // The observer is notified in the same way as without the log.
  expect(tallies.drain().map(({ method, begun }) => [method, begun])).toEqual([
    ["ask", 1],
    ["echo", 2],
    [undefined, 1],
  ]);
});

it("logs WebSocket messages", async () => {
  const { log: accessLog, entries } = setup();
  const server = await openJsonRpc({ accessLog });
  const client = await Client.connect(server.url);
  client.socket.send(requestText({ params: "[7]" }));
  const answer = await client.messages.next();
  await server.close();
  expect(entries()).toEqual([{ ...common, server: "websocket", methods: ["echo"], bytes: answer.length }]);
});

it("logs the bytes of an event stream", async () => {
  const { log: accessLog, entries } = setup();
  const channel = new Channel();
  const events = async () => ({ status: 200, feed: channel.feed });
  const server = await openRest({ accessLog, handlers: { "GET /events": events } });
  onTestFinished(() => server.close());
  const client = await SseClient.connect(`${server.url}/events`);
  channel.publish({ slot: "1" });
  channel.publish({ slot: "2" }, "block");
  await client.events.take(2);
  client.response.destroy();
  while (server.load().requests > 0) await new Promise(setImmediate);
  await server.close();
  const bytes = 'event: head\ndata: {"slot":"1"}\n\nevent: block\ndata: {"slot":"2"}\n\n'.length;
  const stream = { request: "GET /events", status: 200, methods: ["GET /events"] };
  expect(entries()).toEqual([{ ...common, ...processed, server: "rest", ...stream, bytes }]);
});

it("logs REST requests by path, without query, and disconnected clients", async () => {
  const { log: accessLog, entries } = setup();
  const answer = { ...json("it"), headers: { [UPSTREAM_HEADER]: "second" } };
  const server = await openRest({
    accessLog,
    handlers: {
      "GET /ask": async () => answer,
      "GET /wait": ({ cancellation }) => new Promise((_, reject) => cancellation.onAbort?.(reject)),
    },
  });
  onTestFinished(() => server.close());
  await server.ask("/ask?token=a-secret-word");
  await server.ask("/nothing");
  const leaving = new AbortController();
  const left = fetch(`${server.url}/wait`, { signal: leaving.signal });
  while (server.load().requests === 0) await new Promise(setImmediate);
  leaving.abort();
  await expect(left).rejects.toThrow();
  while (server.load().requests > 0) await new Promise(setImmediate);
  await server.close();
  const call = { ...common, ...processed, server: "rest" };
  expect(entries()).toEqual([
    { ...call, request: "GET /ask", status: 200, methods: ["GET /ask"], bytes: 4, upstream: "second" },
    { ...call, request: "GET /nothing", status: 404, methods: ["unknown"], bytes: expect.any(Number) },
    { ...call, request: "GET /wait", status: 499, methods: ["GET /wait"], bytes: 0 },
  ]);
});
