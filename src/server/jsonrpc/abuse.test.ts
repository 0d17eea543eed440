import { once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createSignal } from "../../../test/support/server/http/http.ts";
import { connectTo, open } from "../../../test/support/server/jsonrpc/abuse.ts";
import { json, openTestServer, requestText } from "../../../test/support/server/jsonrpc/server.ts";
import type { Cancellation } from "../method-table.ts";

const head = (length: number) =>
  `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

const post = (body: string) => head(body.length) + body;

it("cancels the handler when the client disconnects", async () => {
  const called = createSignal();
  const aborted = createSignal();
  const server = await open({
    handlers: {
      long: (_params, _caller, cancellation?: Cancellation) => {
        called.trigger();
        cancellation?.signal.addEventListener("abort", aborted.trigger);
        return aborted.promise.then(() => json("stopped"));
      },
    },
  });
  const socket = await connectTo(server);
  socket.write(post(requestText({ method: '"long"' })));
  await called.promise;
  socket.destroy();
  await aborted.promise;
});

it("does not start the rest of a batch after the client has disconnected", async () => {
  const called = createSignal();
  const go = createSignal();
  let calls = 0;
  const server = await open({
    handlers: {
      counted: async () => {
        calls++;
        called.trigger();
        await go.promise;
        return json(calls);
      },
    },
  });
  const socket = await connectTo(server);
  socket.write(
    post(
      `[${Array(100)
        .fill(requestText({ method: '"counted"' }))
        .join(",")}]`,
    ),
  );
  await called.promise;
  socket.destroy();
  // Once the server has answered a later client, it has noticed the disconnect.
  await server.post(requestText({}));
  go.trigger();
  await server.close();
  expect(calls).toBeLessThan(10);
});

it("serves other clients between the calls of a batch", async () => {
  const order: string[] = [];
  const begun = createSignal();
  const busy = async () => {
    begun.trigger();
    for (const until = performance.now() + 4; performance.now() < until; );
    order.push("batch");
    return json(1);
  };
  const server = await open({ handlers: { busy, other: async () => json(order.push("other")) } });
  const batch = server.post(
    `[${Array(50)
      .fill(requestText({ method: '"busy"' }))
      .join(",")}]`,
  );
  await begun.promise;
  await server.post(requestText({ method: '"other"' }));
  await batch;
  expect(order.lastIndexOf("batch")).toBeGreaterThan(order.indexOf("other"));
  expect(order.filter((each) => each === "batch")).toHaveLength(50);
});

it("rejects the calls of a batch beyond its response limit", async () => {
  let calls = 0;
  const large = async () => {
    calls++;
    return json("x".repeat(1000));
  };
  const server = await open({ handlers: { large }, limits: { batchBytes: 5000 } });
  const requests = Array.from({ length: 40 }, (_, id) => requestText({ id: String(id), method: '"large"' }));
  const answers = JSON.parse((await server.post(`[${requests.join(",")}]`)).text) as { id: number; error?: object }[];
  expect(answers.map(({ id }) => id)).toEqual(requests.map((_, id) => id));
  const refused = answers.filter(({ error }) => error);
  expect(refused.length).toBe(40 - calls);
  expect(calls).toBeLessThan(12);
  expect(refused[0]?.error).toMatchObject({ code: -32005, message: expect.stringContaining("exceed 5000 bytes") });
});

it("limits the memory for incomplete bodies of all clients and releases it", async () => {
  const server = await open({ limits: { heldBytes: 200_000 } });
  const sockets = await Promise.all([connectTo(server), connectTo(server)]);
  for (const socket of sockets) socket.write(head(150_000) + " ".repeat(80_000));
  await expect.poll(async () => (await server.post(" ".repeat(50_000))).status).toBe(503);
  expect((await server.post(requestText({}))).status).toBe(200);
  for (const socket of sockets) socket.destroy();
  await expect.poll(async () => (await server.post(" ".repeat(50_000))).status).toBe(200);
});

const chunkedHead = head(0).replace("Content-Length: 0", "Connection: close\r\nTransfer-Encoding: chunked");
const chunksOf = (text: string) => [...text].map((character) => `1\r\n${character}\r\n`).join("");

it("accepts a body in small chunks up to a limit", async () => {
  const server = await open();
  const few = await connectTo(server);
  few.write(`${chunkedHead}${chunksOf(requestText({}))}0\r\n\r\n`);
  expect(Buffer.concat(await Array.fromAsync(few)).toString()).toContain('"result":');

  const many = await connectTo(server);
  many.write(chunkedHead + chunksOf(" ".repeat(3000)));
  const text = Buffer.concat(await Array.fromAsync(many)).toString();
  expect(text).toMatch(/^HTTP\/1.1 400 /);
  expect(text).toContain("too many small chunks");
});

it.each([
  ["sends no more of a head", "POST / HTTP/1.1\r\nHost: 127"],
  ["sends no more of a body", `${head(100)}{`],
  ["has not even begun", ""],
])("disconnects a client that %s", async (_what, text) => {
  const server = await open({ limits: { stallMillis: 50 } });
  const socket = await connectTo(server);
  socket.write(text);
  socket.resume();
  await once(socket, "close");
});

it("disconnects a client that pipelines too many requests", async () => {
  const go = createSignal();
  const gated = async () => {
    await go.promise;
    return json(1);
  };
  const server = await open({ handlers: { gated }, limits: { pipelinedRequests: 10 } });
  const socket = await connectTo(server);
  socket.write(post(requestText({ method: '"gated"' })).repeat(11));
  socket.resume();
  await once(socket, "close");
  go.trigger();
});

it("limits the memory for unread responses of all clients", async () => {
  const huge = async () => json("x".repeat(8_000_000));
  const server = await open({ handlers: { huge }, limits: { unreadBytes: 10_000_000 } });
  const socket = await connectTo(server);
  socket.pause();
  socket.write(post(requestText({ method: '"huge"' })));
  await expect.poll(async () => (await server.post(requestText({ method: '"huge"' }))).status).toBe(503);
  socket.destroy();
  await expect.poll(async () => (await server.post(requestText({ method: '"huge"' }))).status).toBe(200);
});

it("refuses connections beyond the limit", async () => {
  const server = await open({ limits: { connections: 3 } });
  await Promise.all([connectTo(server), connectTo(server), connectTo(server)]);
  const fourth = await connectTo(server);
  fourth.resume();
  await once(fourth, "close");
  expect(server.log.map(({ message }) => message)).toContain("Connection limit reached, refusing connections");
});

it.each([
  ["reads nothing of its answer", post(requestText({ method: '"huge"' }))],
  [
    "keeps a refused upgrade open",
    "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
  ],
  ["waits for a call that does not end", post(requestText({ method: '"never"' }))],
])("closes in spite of a client that %s", async (_what, text) => {
  const huge = async () => json("x".repeat(8_000_000));
  const server = await openTestServer({ handlers: { huge }, limits: { closeMillis: 50 } });
  const socket = await connectTo(server);
  socket.pause();
  socket.write(text);
  await server.post(requestText({}));
  await server.close();
});

it("closes despite an incomplete request that arrives during shutdown", async () => {
  const called = createSignal();
  const go = createSignal();
  const gated = async () => {
    called.trigger();
    await go.promise;
    return json(1);
  };
  const server = await openTestServer({ handlers: { gated } });
  const [cancellation, late] = [await connectTo(server), await connectTo(server)];
  const beginning = "POST / HTTP/1.1\r\n";
  late.resume().write(beginning);
  cancellation.resume().write(post(requestText({ method: '"gated"' })));
  await called.promise;
  const closed = server.close();
  late.write(`${head(100).slice(beginning.length)}{`);
  await once(late, "close");
  go.trigger();
  await closed;
}, 5000);

it("does not process pipelined requests of a disconnected client", async () => {
  let calls = 0;
  const go = createSignal();
  const counted = async () => {
    calls++;
    await go.promise;
    return json(1);
  };
  const server = await open({ handlers: { counted }, limits: { pipelinedRequests: 4 } });
  const socket = await connectTo(server);
  socket.write(post(requestText({ method: '"counted"' })).repeat(50));
  socket.resume();
  await once(socket, "close");
  go.trigger();
  expect(calls).toBeLessThan(6);
  expect((await server.post(requestText({ params: "[1]" }))).text).toContain('"result":[1]');
});

it("processes pipelined requests one at a time", async () => {
  let running = 0;
  let most = 0;
  const counted = async () => {
    most = Math.max(most, ++running);
    await nextTurn();
    running--;
    return json(1);
  };
  const server = await open({ handlers: { counted } });
  const socket = await connectTo(server);
  const request = post(requestText({ method: '"counted"' }));
  socket.write(request.repeat(5) + request.replace("Host:", "Connection: close\r\nHost:"));
  const text = Buffer.concat(await Array.fromAsync(socket)).toString();
  expect(text.match(/"result":1/g)).toHaveLength(6);
  expect(most).toBe(1);
});

it.each([
  ["a body that is too large", head(30_000_000), "HTTP/1.1 413 "],
  ["a body of a type that is not served", head(30_000_000).replace("application/json", "text/plain"), "HTTP/1.1 415 "],
])("responds to %s without reading it to the end", async (_what, text, status) => {
  const server = await open({ limits: { smallBodyBytes: 100_000 } });
  const socket = await connectTo(server);
  let sent = 0;
  const piece = Buffer.alloc(1_000_000, " ");
  const sendOn = (): void => {
    if (socket.destroyed || sent >= 30) return;
    sent++;
    socket.write(piece, sendOn);
  };
  socket.write(text, sendOn);
  const answer = Buffer.concat(await Array.fromAsync(socket)).toString();
  expect(answer).toContain(status);
  expect(answer).toContain("Connection: close");
  // If no more than this was sent, the socket buffers were full and the rest was not read.
  expect(sent).toBeLessThan(30);
});

it("prefers clients without pipelining", async () => {
  const order: string[] = [];
  const busy = async () => {
    for (const until = performance.now() + 2; performance.now() < until; );
    order.push("ahead");
    return json(1);
  };
  const server = await open({ handlers: { busy, other: async () => json(order.push("other")) } });
  const crowd = await Promise.all(Array.from({ length: 20 }, () => connectTo(server)));
  const other = await connectTo(server);
  other.write(post(requestText({})));
  await once(other, "data");
  for (const socket of crowd) socket.resume().write(post(requestText({ method: '"busy"' })).repeat(5));
  other.write(post(requestText({ method: '"other"' })));
  await once(other, "data");
  expect(order.indexOf("other")).toBeLessThan(40);
  await expect.poll(() => order.filter((each) => each === "ahead").length, { timeout: 10_000 }).toBe(100);
});

it("forgets clients that disconnect before their first read, and serves silent ones", async () => {
  const server = await open();
  const crowd = await Promise.all(Array.from({ length: 50 }, () => connectTo(server)));
  for (const socket of crowd) socket.resume().write(post(requestText({})).repeat(15));
  const leaving = await Promise.all(Array.from({ length: 20 }, () => connectTo(server)));
  for (const socket of leaving) {
    socket.write("POST / HTTP/1.1\r\n");
    socket.resetAndDestroy();
  }
  const silent = await connectTo(server);
  await expect.poll(() => server.load().connections).toBeLessThanOrEqual(51);
  silent.write(post(requestText({ params: "[7]" })));
  expect(String((await once(silent, "data"))[0])).toContain('"result":[7]');
});
