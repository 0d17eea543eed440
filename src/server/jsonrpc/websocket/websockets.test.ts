import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished, vi } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import { createSignal, streamOf } from "../../http/http.test-support.ts";
import { json, openTestServer, requestText } from "../server.test-support.ts";
import { Client } from "./client.test-support.ts";

/** The answer to an upgrade that is refused. */
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
])("%s is answered with the bytes that HTTP answers with", async (_what, message) => {
  const server = await openTestServer();
  const client = await Client.connect(server.url);
  client.socket.send(message);
  expect(await client.messages.next()).toBe((await server.post(message)).text);
  client.socket.send(Buffer.from(message), { binary: true });
  expect(await client.messages.next()).toBe((await server.post(message)).text);
  await server.close();
});

it("a result of many pieces arrives whole", async () => {
  const value = "y".repeat(3_000_000);
  const server = await openTestServer({ handlers: { huge: async () => json(value) } });
  const client = await Client.connect(server.url);
  const answers = [client.call("huge"), client.call("echo", 1), client.call("huge"), client.call("stream")];
  const results = (await Promise.all(answers)).map(({ result }) => result);
  expect(results).toEqual([value, [1], value, [1, 2, 3]]);
  await server.close();
});

it("the WebSocket of browsers, which Node has too, is served", async () => {
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

it("nothing answers notifications", async () => {
  const server = await openTestServer();
  const client = await Client.connect(server.url);
  client.socket.send(requestText({ id: undefined }));
  client.socket.send(`[${requestText({ id: undefined })}]`);
  expect(await client.call("echo", "after")).toMatchObject({ result: ["after"] });
  expect(client.messages.left).toBe(1);
  await server.close();
});

it("calls do not wait for each other", async () => {
  const go = createSignal();
  const server = await openTestServer({
    handlers: {
      gated: async () => {
        await go.happened;
        return json("gated");
      },
    },
  });
  const client = await Client.connect(server.url);
  const gated = client.call("gated");
  expect(await client.call("echo", 1)).toMatchObject({ result: [1] });
  go.happen();
  expect(await gated).toMatchObject({ result: "gated" });
  await server.close();
});

it("more calls than may run at once are all answered", async () => {
  let running = 0;
  let most = 0;
  const server = await openTestServer({
    webSocketLimits: { runningMessages: 4 },
    handlers: {
      counted: async (params) => {
        most = Math.max(most, ++running);
        // Long enough for the next messages to arrive, of which one is taken in a turn.
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
        running--;
        return json(params);
      },
    },
  });
  const client = await Client.connect(server.url);
  // Each message fills a read of the socket, so that pausing takes effect between them.
  const padding = "x".repeat(100_000);
  const answers = Array.from({ length: 40 }, (_, number) => client.call("counted", number, padding));
  const results = (await Promise.all(answers)).map(({ result }) => (result as [number])[0]);
  expect(results).toEqual(Array.from({ length: 40 }, (_, number) => number));
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThan(12);
  await server.close();
});

it("of messages sent ahead of their answers, few of a connection are worked on at once, and others do not wait for them", async () => {
  const go = createSignal();
  let running = 0;
  const server = await openTestServer({
    webSocketLimits: { runningMessages: 3 },
    handlers: {
      gated: async (params) => {
        running++;
        await go.happened;
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
  go.happen();
  const results = (await Promise.all(answers)).map(({ result }) => (result as [number])[0]);
  expect(results).toEqual(crowd.flatMap(() => Array.from({ length: 10 }, (_, number) => number)));
  await server.close();
});

it("a long message that comes in pieces is whole, and so are those around it", async () => {
  const server = await openTestServer();
  const client = await Client.connect(server.url);
  const lengths = [10, 255, 3000, 900_000, 1, 64, 200_000, 5];
  const answers = lengths.map((length) => client.call("echo", "z".repeat(length)));
  const results = (await Promise.all(answers)).map(({ result }) => result as string[]);
  expect(results.map(([value]) => value?.length)).toEqual(lengths);
  await server.close();
});

it("pings are answered while a thousand messages wait to be read", async () => {
  const server = await openTestServer();
  const client = await Client.connect(server.url);
  const calls = Array.from({ length: 1000 }, (_, number) => client.call("echo", number));
  client.socket.ping("still there?");
  const [said] = await once(client.socket, "pong");
  expect(said.toString()).toBe("still there?");
  expect((await Promise.all(calls)).map(({ result }) => result)).toEqual(calls.map((_, number) => [number]));
  await server.close();
});

it("who takes leave does not have to wait for a call that takes long", async () => {
  const server = await openTestServer({
    handlers: { never: () => new Promise(() => {}) },
  });
  const client = await Client.connect(server.url);
  void client.call("never");
  client.socket.close(1000);
  expect(await client.closed).toMatchObject({ code: 1000 });
  await server.close();
});

it("a result that breaks off cuts the connection", async () => {
  const server = await openTestServer();
  const client = await Client.connect(server.url);
  void client.call("late_break");
  expect((await client.closed).code).toBe(1006);
  expect(server.log.filter(({ level }) => level === "error")).toHaveLength(1);
  await server.close();
});

it("the source of a streamed result hears that its reader has left", async () => {
  const left = createSignal();
  const started = createSignal();
  const server = await openTestServer({
    handlers: {
      endless: async () => ({
        body: (async function* () {
          try {
            for (;;) {
              yield* streamOf("1".repeat(100_000));
              started.happen();
            }
          } finally {
            left.happen();
          }
        })(),
      }),
    },
  });
  const client = await Client.connect(server.url);
  void client.call("endless");
  await started.happened;
  client.socket.terminate();
  await left.happened;
  await server.close();
});

it("a message larger than a request body may be closes the connection with the code for that", async () => {
  const server = await openTestServer({ limits: { bodyBytes: 1000 } });
  const client = await Client.connect(server.url);
  expect(await client.call("echo", "x".repeat(900))).toHaveProperty("result");
  void client.call("echo", "x".repeat(1000));
  expect(await client.closed).toMatchObject({ code: 1009 });
  await server.close();
});

it("there may be only so many connections", async () => {
  const server = await openTestServer({ webSocketLimits: { connections: 1 } });
  const client = await Client.connect(server.url);
  expect(await refusal(server.url)).toEqual({
    status: 503,
    body: { code: 503, message: "There are 1 WebSocket connections already." },
  });
  expect(await client.call("echo")).toHaveProperty("result");
  await server.close();
});

it("pages of other origins are refused, clients that name the node's own are not", async () => {
  const server = await openTestServer();
  expect(await refusal(server.url, { origin: "https://evil.example" })).toMatchObject({ status: 403 });
  expect(await refusal(server.url, { origin: "null" })).toMatchObject({ status: 403 });
  const client = await Client.connect(server.url, { origin: server.url });
  expect(await client.call("echo")).toHaveProperty("result");
  await server.close();
});

it("a request that offers another protocol is answered as HTTP", async () => {
  const server = await openTestServer();
  const headers = { "Content-Type": "application/json", Connection: "Upgrade, HTTP2-Settings", Upgrade: "h2c" };
  expect(await server.post(requestText({}), { headers })).toMatchObject({ status: 200 });
  await server.close();
});

it("a handshake that is not complete is refused", async () => {
  const server = await openTestServer();
  const outgoing = request(server.url, { headers: { Connection: "Upgrade", Upgrade: "websocket" } }).end();
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  expect(response.statusCode).toBe(400);
  response.resume();
  await server.close();
});

it("who shows no sign of life is cut off, who answers is not", async () => {
  driveIntervals();
  const server = await openTestServer({ webSocketLimits: { checkMillis: 1000 } });
  const alive = await Client.connect(server.url);
  const dead = await Client.connect(server.url, { autoPong: false });
  const pinged = [once(alive.socket, "ping"), once(dead.socket, "ping")];
  vi.advanceTimersByTime(1000);
  await Promise.all(pinged);
  // The pong is read before what is sent after it.
  await alive.call("echo");
  vi.advanceTimersByTime(1000);
  expect(await dead.closed).toEqual({ code: 1008, reason: expect.stringContaining("nor answered a ping") });
  expect(await alive.call("echo")).toHaveProperty("result");
  await server.close();
});

it("closing lets running calls finish, accepts nothing new, and takes leave", async () => {
  const called = createSignal();
  const go = createSignal();
  const server = await openTestServer({
    handlers: {
      gated: async () => {
        called.happen();
        await go.happened;
        return json("finished");
      },
    },
  });
  const client = await Client.connect(server.url);
  const answer = client.call("gated");
  await called.happened;
  const closed = server.close();
  const late = client.call("echo").then(() => "answered");
  go.happen();
  expect(await answer).toMatchObject({ result: "finished" });
  expect(await client.closed).toMatchObject({ code: 1001 });
  await closed;
  expect(await Promise.race([late, Promise.resolve("unanswered")])).toBe("unanswered");
});

it("a client that does not take leave cannot hold up the closing", async () => {
  const server = await openTestServer({ webSocketLimits: { leaveMillis: 1 } });
  const client = await Client.connect(server.url);
  client.socket.pause();
  await server.close();
});
