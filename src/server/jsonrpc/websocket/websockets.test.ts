import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished, vi } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import { createSignal, streamOf } from "../../../../test/support/server/http/http.ts";
import { json, openTestServer, requestText } from "../../../../test/support/server/jsonrpc/server.ts";
import { Client } from "../../../../test/support/server/jsonrpc/websocket/client.ts";

/** Returns the error response to an upgrade request. */
async function refusal(url: string, options?: ClientOptions): Promise<{ status?: number; body: unknown }> {
  const socket = new WebSocket(url.replace("http", "ws"), options);
  socket.on("error", () => {});
  const [, response] = (await once(socket, "unexpected-response")) as [unknown, IncomingMessage];
  return { status: response.statusCode, body: JSON.parse(await text(response)) };
}

function driveIntervals(): void {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
}

it.each([
  ["a call", requestText({ params: '[1,{"a":2}]' })],
  ["a call with metadata", requestText({ method: '"described"', meta: "true" })],
  ["a failure", requestText({ method: '"fail"', params: '["not-found"]' })],
  ["an unknown method", requestText({ method: '"unheard"' })],
  ["a batch", `[${requestText({})},${requestText({ id: "2", method: '"null"' })},7]`],
  ["a streamed result", requestText({ method: '"stream"' })],
  ["a batch with a streamed result", `[${requestText({ method: '"stream"' })},${requestText({ id: "2" })}]`],
  ["a large result", requestText({ method: '"large"' })],
  ["no JSON", "{"],
])("responds to %s with the same bytes as HTTP", async (_what, message) => {
  const server = await openTestServer();
  const client = await Client.connect(server.url);
  client.socket.send(message);
  expect(await client.messages.next()).toBe((await server.post(message)).text);
  client.socket.send(Buffer.from(message), { binary: true });
  expect(await client.messages.next()).toBe((await server.post(message)).text);
  await server.close();
});

it("sends a fragmented result completely", async () => {
  const value = "y".repeat(3_000_000);
  const server = await openTestServer({ handlers: { huge: async () => json(value) } });
  const client = await Client.connect(server.url);
  const answers = [client.call("huge"), client.call("echo", 1), client.call("huge"), client.call("stream")];
  const results = (await Promise.all(answers)).map(({ result }) => result);
  expect(results).toEqual([value, [1], value, [1, 2, 3]]);
  await server.close();
});

it("serves the browser's WebSocket class", async () => {
  const server = await openTestServer();
  const socket = new globalThis.WebSocket(server.url.replace("http", "ws"));
  await once(socket, "open");
  socket.send(requestText({ params: '["é"]' }));
  const [{ data }] = (await once(socket, "message")) as [MessageEvent];
  expect(data).toBe('{"jsonrpc":"2.0","id":1,"result":["é"]}');
  const closed = once(socket, "close");
  await server.close();
  const [{ code }] = (await closed) as [CloseEvent];
  expect(code).toBe(1001);
});

it("does not respond to notifications", async () => {
  const server = await openTestServer();
  const client = await Client.connect(server.url);
  client.socket.send(requestText({ id: undefined }));
  client.socket.send(`[${requestText({ id: undefined })}]`);
  expect(await client.call("echo", "after")).toMatchObject({ result: ["after"] });
  expect(client.messages.left).toBe(1);
  await server.close();
});

it("runs calls concurrently", async () => {
  const go = createSignal();
  const server = await openTestServer({
    handlers: {
      gated: async () => {
        await go.promise;
        return json("gated");
      },
    },
  });
  const client = await Client.connect(server.url);
  const gated = client.call("gated");
  expect(await client.call("echo", 1)).toMatchObject({ result: [1] });
  go.trigger();
  expect(await gated).toMatchObject({ result: "gated" });
  await server.close();
});

it("answers all calls beyond the concurrency limit", async () => {
  let running = 0;
  let most = 0;
  const server = await openTestServer({
    webSocketLimits: { runningMessages: 4 },
    handlers: {
      counted: async (params) => {
        most = Math.max(most, ++running);
        // This is long enough for the next messages to arrive, one per turn.
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
        running--;
        return json(params);
      },
    },
  });
  const client = await Client.connect(server.url);
  // Each message fills an entire read from the socket, so that pausing takes effect between messages.
  const padding = "x".repeat(100_000);
  const answers = Array.from({ length: 40 }, (_, number) => client.call("counted", number, padding));
  const results = (await Promise.all(answers)).map(({ result }) => (result as [number])[0]);
  expect(results).toEqual(Array.from({ length: 40 }, (_, number) => number));
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThan(12);
  await server.close();
});

it("limits concurrent messages per connection without delaying other clients", async () => {
  const go = createSignal();
  let running = 0;
  const server = await openTestServer({
    webSocketLimits: { runningMessages: 3 },
    handlers: {
      gated: async (params) => {
        running++;
        await go.promise;
        return json(params);
      },
    },
  });
  const crowd = await Promise.all(Array.from({ length: 4 }, () => Client.connect(server.url)));
  const answers = crowd.flatMap((client) => Array.from({ length: 10 }, (_, number) => client.call("gated", number)));
  await expect.poll(() => running).toBe(4 * 3);
  const other = await Client.connect(server.url);
  expect(await other.call("echo", 1)).toMatchObject({ result: [1] });
  expect(running).toBe(4 * 3);
  go.trigger();
  const results = (await Promise.all(answers)).map(({ result }) => (result as [number])[0]);
  expect(results).toEqual(crowd.flatMap(() => Array.from({ length: 10 }, (_, number) => number)));
  await server.close();
});

it("receives a fragmented message and those around it completely", async () => {
  const server = await openTestServer();
  const client = await Client.connect(server.url);
  const lengths = [10, 255, 3000, 900_000, 1, 64, 200_000, 5];
  const answers = lengths.map((length) => client.call("echo", "z".repeat(length)));
  const results = (await Promise.all(answers)).map(({ result }) => result as string[]);
  expect(results.map(([value]) => value?.length)).toEqual(lengths);
  await server.close();
});

it("answers pings while many messages are queued", async () => {
  const server = await openTestServer();
  const client = await Client.connect(server.url);
  const calls = Array.from({ length: 1000 }, (_, number) => client.call("echo", number));
  client.socket.ping("still there?");
  const [payload] = await once(client.socket, "pong");
  expect(payload.toString()).toBe("still there?");
  expect((await Promise.all(calls)).map(({ result }) => result)).toEqual(calls.map((_, number) => [number]));
  await server.close();
});

it("completes the closing handshake during a slow call", async () => {
  const server = await openTestServer({
    handlers: { never: () => new Promise(() => {}) },
  });
  const client = await Client.connect(server.url);
  void client.call("never");
  client.socket.close(1000);
  expect(await client.closed).toMatchObject({ code: 1000 });
  await server.close();
});

it("terminates the connection if a streamed result fails", async () => {
  const server = await openTestServer();
  const client = await Client.connect(server.url);
  void client.call("late_break");
  expect((await client.closed).code).toBe(1006);
  expect(server.log.filter(({ level }) => level === "error")).toHaveLength(1);
  await server.close();
});

it("closes the source of a streamed result when the client disconnects", async () => {
  const left = createSignal();
  const started = createSignal();
  const server = await openTestServer({
    handlers: {
      endless: async () => ({
        body: (async function* () {
          try {
            for (;;) {
              yield* streamOf("1".repeat(100_000));
              started.trigger();
            }
          } finally {
            left.trigger();
          }
        })(),
      }),
    },
  });
  const client = await Client.connect(server.url);
  void client.call("endless");
  await started.promise;
  client.socket.terminate();
  await left.promise;
  await server.close();
});

it("closes the connection with code 1009 for a message that is too large", async () => {
  const server = await openTestServer({ limits: { bodyBytes: 1000 } });
  const client = await Client.connect(server.url);
  expect(await client.call("echo", "x".repeat(900))).toHaveProperty("result");
  void client.call("echo", "x".repeat(1000));
  expect(await client.closed).toMatchObject({
    code: 1009,
    reason: "A message is larger than 1000 bytes (--max-body-bytes).",
  });
  await server.close();
});

it("limits the number of connections", async () => {
  const server = await openTestServer({ webSocketLimits: { connections: 1 } });
  const client = await Client.connect(server.url);
  expect(await refusal(server.url)).toEqual({
    status: 503,
    body: { code: 503, message: "The limit of 1 WebSocket connections (--max-connections) is reached." },
  });
  expect(await client.call("echo")).toHaveProperty("result");
  await server.close();
});

it("rejects other origins and accepts the server's own", async () => {
  const server = await openTestServer();
  expect(await refusal(server.url, { origin: "https://evil.example" })).toMatchObject({ status: 403 });
  expect(await refusal(server.url, { origin: "null" })).toMatchObject({ status: 403 });
  const client = await Client.connect(server.url, { origin: server.url });
  expect(await client.call("echo")).toHaveProperty("result");
  await server.close();
});

it("ignores upgrades to other protocols", async () => {
  const server = await openTestServer();
  const headers = { "Content-Type": "application/json", Connection: "Upgrade, HTTP2-Settings", Upgrade: "h2c" };
  expect(await server.post(requestText({}), { headers })).toMatchObject({ status: 200 });
  await server.close();
});

it("rejects an incomplete handshake", async () => {
  const server = await openTestServer();
  const outgoing = request(server.url, { headers: { Connection: "Upgrade", Upgrade: "websocket" } }).end();
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  expect(response.statusCode).toBe(400);
  response.resume();
  await server.close();
});

it("disconnects unresponsive clients only", async () => {
  driveIntervals();
  const server = await openTestServer({ webSocketLimits: { pingMillis: 1000 } });
  const alive = await Client.connect(server.url);
  const dead = await Client.connect(server.url, { autoPong: false });
  const pinged = [once(alive.socket, "ping"), once(dead.socket, "ping")];
  vi.advanceTimersByTime(1000);
  await Promise.all(pinged);
  // The pong is read before any later message.
  await alive.call("echo");
  vi.advanceTimersByTime(1000);
  expect(await dead.closed).toEqual({ code: 1008, reason: expect.stringContaining("nor answered a ping") });
  expect(await alive.call("echo")).toHaveProperty("result");
  await server.close();
});

it("waits for running calls on close, accepts no new ones, and sends a close frame", async () => {
  const called = createSignal();
  const go = createSignal();
  const server = await openTestServer({
    handlers: {
      gated: async () => {
        called.trigger();
        await go.promise;
        return json("finished");
      },
    },
  });
  const client = await Client.connect(server.url);
  const answer = client.call("gated");
  await called.promise;
  const closed = server.close();
  const late = client.call("echo").then(() => "answered");
  go.trigger();
  expect(await answer).toMatchObject({ result: "finished" });
  expect(await client.closed).toMatchObject({ code: 1001 });
  await closed;
  expect(await Promise.race([late, Promise.resolve("unanswered")])).toBe("unanswered");
});

it("closes despite a client without a closing handshake", async () => {
  const server = await openTestServer({ webSocketLimits: { closeHandshakeMillis: 1 } });
  const client = await Client.connect(server.url);
  client.socket.pause();
  await server.close();
});
