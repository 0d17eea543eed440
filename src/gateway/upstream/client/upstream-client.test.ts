import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it } from "vitest";
import { json, ScriptedUpstream } from "../../../../test/support/gateway/upstream/scripted-upstream.ts";
import { SYSTEM_TIMERS } from "../../../async/timers.ts";
import { UpstreamError, type UpstreamRequest, type UpstreamResponse } from "../upstream-call.ts";
import { UpstreamClient } from "./upstream-client.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function get(url: string): UpstreamRequest {
  return { verb: "GET", url, headers: { accept: "application/json" } };
}

async function startUpstream(): Promise<ScriptedUpstream> {
  const upstream = await new ScriptedUpstream("a").start();
  closing.push(() => upstream.stop());
  return upstream;
}

function clientOf(options: ScriptedUpstream["options"]): UpstreamClient {
  const client = new UpstreamClient(options, { timers: SYSTEM_TIMERS });
  closing.push(() => client.close());
  return client;
}

function start(client: UpstreamClient, request: UpstreamRequest) {
  const { promise: response, resolve: onResponse, reject: onFailure } = Promise.withResolvers<UpstreamResponse>();
  return { exchange: client.start(request, { onResponse, onFailure }), response };
}

/** Starts a server that answers every connection with these bytes and closes it. */
async function startRaw(answer: string): Promise<ScriptedUpstream["options"]> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => socket.end(answer, "latin1"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { name: "raw", url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, tier: 0, weight: 1 };
}

async function read({ body }: UpstreamResponse): Promise<Buffer> {
  if (Buffer.isBuffer(body)) return body;
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function errorOf(promise: Promise<unknown>): Promise<UpstreamError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(UpstreamError);
  return error as UpstreamError;
}

describe("a request to an upstream", () => {
  it("has the path prefix and credentials, and returns status, headers and body", async () => {
    const upstream = await startUpstream();
    upstream.handler = (_request, response) => {
      response.setHeader("Eth-Consensus-Version", "fulu");
      json(response, { message: "no" }, 404);
    };
    const { url, ...options } = upstream.options;
    const client = clientOf({ ...options, url: `${url}/key/`, authorization: "Bearer secret" });
    const body = Buffer.from('["1"]');
    const response = await client.request({ verb: "POST", url: "/eth/v1/x?a=b", headers: { "x-y": "z" }, body });
    expect(response).toMatchObject({ upstream: "a", status: 404, headers: { "eth-consensus-version": "fulu" } });
    expect(Buffer.isBuffer(response.body)).toBe(true);
    expect((await read(response)).toString()).toBe('{"message":"no"}');
    expect(upstream.requests).toMatchObject([
      {
        verb: "POST",
        url: "/key/eth/v1/x?a=b",
        headers: { authorization: "Bearer secret", "x-y": "z", "accept-encoding": "identity" },
        body,
      },
    ]);
    expect(client.pendingRequests).toBe(0);
  });

  it("redacts credentials that an upstream echoes", async () => {
    const upstream = await startUpstream();
    upstream.handler = ({ headers }, response) =>
      json(response, { message: `Who is ${headers.authorization}? pässword` }, 400);
    for (const [authorization, message] of [
      ["Bearer 0123456789", "Who is Bearer ***? pässword"],
      [`Basic ${Buffer.from("me:pässword").toString("base64")}`, "Who is Basic ***? ***"],
    ] as const) {
      const client = clientOf({ ...upstream.options, authorization });
      expect(JSON.parse(String(await read(await client.request(get("/echo")))))).toEqual({ message });
    }
  });

  it.each(["400 Bad Request", "200 OK"])(
    "redacts credentials in a stream of %s, keeping its length",
    async (status) => {
      const authorization = "Bearer 0123456789";
      const text = `${"x".repeat(99_000)}${`<${authorization}>`.repeat(3000)}`;
      for (const head of [`Content-Length: ${text.length}\r\n`, ""]) {
        const answer = `HTTP/1.1 ${status}\r\n${head}\r\n${text}`;
        const client = clientOf({ ...(await startRaw(answer)), authorization });
        const response = await client.request(get("/echo"));
        expect(Buffer.isBuffer(response.body)).toBe(false);
        expect(String(await read(response))).toBe(text.replaceAll("0123456789", "**********"));
      }
    },
  );

  it("streams a large body with backpressure", async () => {
    const upstream = await startUpstream();
    const sent = randomBytes(32 * 1024 * 1024);
    let handedOver = 0;
    upstream.handler = (_request, response) => {
      const step = 256 * 1024;
      const write = () => {
        while (handedOver < sent.length) {
          const goesOn = response.write(sent.subarray(handedOver, handedOver + step));
          handedOver += step;
          if (!goesOn) {
            response.once("drain", write);
            return;
          }
        }
        response.end();
      };
      write();
    };
    const response = await clientOf(upstream.options).request(get("/large"));
    expect(Buffer.isBuffer(response.body)).toBe(false);
    // Many ticks, so that everything that can proceed has done so.
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(handedOver).toBeLessThan(sent.length);
    expect((await read(response)).equals(sent)).toBe(true);
  });

  it("is answered while other responses are paused", async () => {
    const upstream = await startUpstream();
    const large = randomBytes(16 * 1024 * 1024);
    upstream.handler = ({ url }, response) => response.end(url === "/large" ? large : "small");
    const client = new UpstreamClient(upstream.options, { timers: SYSTEM_TIMERS, connections: 2 });
    closing.push(() => client.close());
    const unread = await Promise.all([1, 2, 3, 4].map(() => client.request(get("/large"))));
    expect(String(await read(await client.request(get("/small"))))).toBe("small");
    for (const response of unread) expect((await read(response)).equals(large)).toBe(true);
    expect(client.pendingRequests).toBe(0);
  });

  it("frees its connection when the reader of a stream stops early", async () => {
    const upstream = await startUpstream();
    const closed = new Promise<void>((resolve) => {
      upstream.handler = (_request, response) => {
        response.on("close", resolve);
        response.write(randomBytes(1024 * 1024));
      };
    });
    const client = clientOf(upstream.options);
    const { body } = await client.request(get("/endless"));
    for await (const chunk of body as AsyncIterable<Buffer>) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    await closed;
    expect(client.pendingRequests).toBe(0);
  });

  it("reports a truncated body as an error", async () => {
    const chunk = "x".repeat(100_000);
    const answers = [
      `Content-Length: 300000\r\n\r\n${chunk}`,
      `Content-Length: 300000\r\nConnection: close\r\n\r\n${chunk}`,
      `Transfer-Encoding: chunked\r\n\r\n${chunk.length.toString(16)}\r\n${chunk}\r\n`,
      `Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunk.length.toString(16)}\r\n${chunk}\r\n`,
    ];
    for (const answer of answers) {
      const client = clientOf(await startRaw(`HTTP/1.1 200 OK\r\n${answer}`));
      const response = await client.request(get("/large"));
      const error = await errorOf(read(response));
      expect(error.message).toMatch(/^raw closed the response early: /);
      expect(client.pendingRequests).toBe(0);
    }
    for (const answer of ["Content-Length: 30\r\n\r\n12345", "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n"]) {
      const client = clientOf(await startRaw(`HTTP/1.1 200 OK\r\n${answer}`));
      expect((await errorOf(client.request(get("/small")))).mayHaveArrived).toBe(true);
    }
  });

  it("joins a body that arrives byte by byte", async () => {
    const bytes = 200_000;
    const answer = `Transfer-Encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(bytes)}0\r\n\r\n`;
    const client = clientOf(await startRaw(`HTTP/1.1 200 OK\r\n${answer}`));
    const { body } = await client.request(get("/dribbled"));
    let pieces = 0;
    let read = 0;
    for await (const piece of body as AsyncIterable<Buffer>) {
      pieces++;
      read += piece.length;
    }
    expect(read).toBe(bytes);
    expect(pieces).toBeLessThan(bytes / 100);
  });

  it("reports whether it may have arrived", async () => {
    const upstream = await startUpstream();
    const client = clientOf(upstream.options);
    upstream.handler = (_request, response) => response.destroy();
    const cut = await errorOf(client.request(get("/cut")));
    expect(cut).toMatchObject({ upstream: "a", message: "a closed the connection.", mayHaveArrived: true });
    await upstream.stop();
    const refused = await errorOf(client.request(get("/gone")));
    expect(refused).toMatchObject({ message: "a refused the connection.", mayHaveArrived: false });
  });

  it("reports the errors of several addresses once", async () => {
    const upstream = await startUpstream();
    upstream.isFrozen = true;
    const { exchange, response } = start(clientOf(upstream.options), get("/"));
    const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    const unreachable = Object.assign(new Error("connect ENETUNREACH ::1:5052"), { code: "ENETUNREACH" });
    exchange.onError(new AggregateError([refused, unreachable, refused]));
    const { message } = await errorOf(response);
    expect(message).toBe("a refused the connection, cannot be reached: connect ENETUNREACH ::1:5052.");
  });

  it("is aborted on a connection and while it waits for one", async () => {
    const upstream = await startUpstream();
    upstream.isFrozen = true;
    const client = new UpstreamClient(upstream.options, { timers: SYSTEM_TIMERS, connections: 1 });
    closing.push(() => client.close());
    const [first, second] = [new AbortController(), new AbortController()];
    const received = upstream.received("/first");
    const firstError = errorOf(client.request(get("/first"), { signal: first.signal }));
    const secondError = errorOf(client.request(get("/second"), { signal: second.signal }));
    await received;
    second.abort();
    expect((await secondError).mayHaveArrived).toBe(false);
    first.abort();
    expect((await firstError).mayHaveArrived).toBe(true);
    expect(client.pendingRequests).toBe(0);
    upstream.isFrozen = false;
    await client.request(get("/third"));
    expect(upstream.questions).toEqual(["/first", "/third"]);
  });

  it("is not sent when aborted in the same tick, and blocks no other", async () => {
    const upstream = await startUpstream();
    const client = new UpstreamClient(upstream.options, { timers: SYSTEM_TIMERS, connections: 2 });
    closing.push(() => client.close());
    const [first, second, third] = ["/first", "/second", "/third"].map((url) => start(client, get(url)));
    const secondError = errorOf(second!.response);
    second!.exchange.abort("was not waited for");
    expect((await secondError).mayHaveArrived).toBe(false);
    for (const { response } of [first!, third!]) expect((await response).status).toBe(200);
    expect(client.pendingRequests).toBe(0);
    expect(upstream.questions.toSorted()).toEqual(["/first", "/third"]);
  });

  it("releases aborted requests that waited for a connection", async () => {
    const upstream = await startUpstream();
    upstream.isFrozen = true;
    const client = new UpstreamClient(upstream.options, { timers: SYSTEM_TIMERS, connections: 1 });
    closing.push(() => client.close());
    const received = upstream.received("/first");
    const first = start(client, get("/first"));
    await received;
    const bodies: WeakRef<Buffer>[] = [];
    for (let count = 0; count < 20; count++) {
      const body = Buffer.alloc(1024);
      bodies.push(new WeakRef(body));
      const waiting = start(client, { ...get("/later"), verb: "POST", body });
      waiting.exchange.abort("was not waited for");
      await errorOf(waiting.response);
    }
    await new Promise((resolve) => setImmediate(resolve));
    setFlagsFromString("--expose-gc");
    runInNewContext("gc")();
    expect(bodies.filter((body) => body.deref() !== undefined).length).toBeLessThan(5);
    first.exchange.abort("was not waited for");
    await errorOf(first.response);
  });

  it("is rejected as invalid params if it is not valid HTTP", async () => {
    const upstream = await startUpstream();
    const client = clientOf(upstream.options);
    for (const request of [
      get("/a b"),
      get("/a\r\nX: y"),
      { ...get("/"), headers: { "x-y": "a\r\nContent-Length: 5" } },
      { ...get("/"), headers: { "x y": "a" } },
      { ...get("/"), headers: { "": "a" } },
    ]) {
      await expect(client.request(request)).rejects.toMatchObject({ kind: "invalid-params" });
    }
    expect(client.pendingRequests).toBe(0);
    expect(upstream.requests).toEqual([]);
  });

  it("rejects redirects, content encodings, invalid statuses and other protocols", async () => {
    const redirect = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n";
    const encoded = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx";
    for (const [answer, message] of [
      [redirect, /redirect \(HTTP status 302\)/],
      [encoded, /content encoding "gzip"/],
      ["HTTP/1.1 304 Not Modified\r\n\r\n", /HTTP status 304 to an unconditional request/],
      ["HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n", /invalid HTTP status 999/],
      ["HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n", /^raw cannot be reached: [^\n]+\.$/],
      ["SSH-2.0-OpenSSH_9.9\r\n", /^raw cannot be reached: /],
    ] as const) {
      const error = await errorOf(clientOf(await startRaw(answer)).request(get("/")));
      expect(error.message).toMatch(message);
    }
  });
});
