import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, expect, it, vi } from "vitest";
import { createSignal } from "../../../test/support/server/http/http.ts";
import {
  json,
  openTestServer,
  requestText,
  type TestServer,
  type TestServerOptions,
} from "../../../test/support/server/jsonrpc/server.ts";
import { SharedStream, type StreamDescriptor, writeToBuffer } from "../../json/shared-stream.ts";

const servers: TestServer[] = [];
const open = async (options?: TestServerOptions) => {
  const server = await openTestServer(options);
  servers.push(server);
  return server;
};
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

const CHUNK = Buffer.alloc(64 * 1024, "x");

/** Creates an endless result that counts its chunks and signals when it is closed. */
function createEndlessStream() {
  const stopped = createSignal();
  const source = {
    pulled: 0,
    stopped: stopped.promise,
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        source.pulled++;
        return { done: false as const, value: CHUNK };
      },
      return: async () => {
        stopped.trigger();
        return { done: true as const, value: undefined };
      },
    }),
  };
  return source;
}

/** Creates a result that stalls after one chunk until it is closed. */
function createStuckStream() {
  const stopped = createSignal();
  let isTaken = false;
  return {
    stopped: stopped.promise,
    [Symbol.asyncIterator]: () => ({
      next: (): Promise<IteratorResult<Buffer>> => {
        if (isTaken) return new Promise(() => {});
        isTaken = true;
        return Promise.resolve({ done: false, value: Buffer.from("[1") });
      },
      return: async () => {
        stopped.trigger();
        return { done: true as const, value: undefined };
      },
    }),
  };
}

async function startPost(server: TestServer, body: string): Promise<IncomingMessage> {
  const outgoing = request(server.url, {
    method: "POST",
    agent: false,
    headers: { "Content-Type": "application/json" },
  });
  outgoing.end(body);
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  return incoming;
}

it("sends a streamed result in its envelope, with the headers of its metadata", async () => {
  const server = await open();
  const received = await server.post(requestText({ method: '"stream"', meta: "true" }));
  expect(received.text).toBe('{"jsonrpc":"2.0","id":1,"result":[1,2,3],"meta":{"streamed":true}}');
  expect(received.status).toBe(200);
  expect(received.headers["content-type"]).toBe("application/json");
  expect(received.headers["eth-consensus-version"]).toBe("electra");
});

it("sends correct bytes to readers of different speeds despite pooled buffers", async () => {
  // More chunks than the socket buffers can hold, so that some readers stall.
  const CHUNKS = 48;
  const descriptorOf = (balance: number): StreamDescriptor => {
    const chunk = new SharedArrayBuffer(4096 * 8);
    new BigUint64Array(chunk).fill(BigInt(balance));
    return { writer: "balances", input: { balanceChunks: Array.from({ length: CHUNKS }, () => chunk) } };
  };
  const server = await open({
    handlers: { balances: async (params) => ({ body: SharedStream.of(descriptorOf((params as [number])[0])) }) },
  });
  const isRead = async (balance: number, begin?: Promise<unknown>) => {
    const incoming = await startPost(server, requestText({ method: '"balances"', params: `[${balance}]` }));
    await begin;
    return (await text(incoming)) === `{"jsonrpc":"2.0","id":1,"result":${writeToBuffer(descriptorOf(balance))}}`;
  };
  const fast = Promise.all([isRead(1111), isRead(2222)]);
  expect(await Promise.all([isRead(3333, fast), isRead(4444, fast)])).toEqual([true, true]);
  expect(await fast).toEqual([true, true]);
});

it("sends chunks as they are produced", async () => {
  const firstSeen = createSignal();
  const server = await open({
    handlers: {
      slow: async () => ({
        body: (async function* () {
          yield Buffer.from("[1,");
          await firstSeen.promise;
          yield Buffer.from("2]");
        })(),
      }),
    },
  });
  const incoming = await startPost(server, requestText({ method: '"slow"' }));
  let seen = "";
  for await (const chunk of incoming) {
    seen += chunk;
    if (seen.endsWith("[1,")) firstSeen.trigger();
  }
  expect(seen).toBe('{"jsonrpc":"2.0","id":1,"result":[1,2]}');
});

it("responds with an error, without result headers, if a stream fails before its first chunk", async () => {
  const server = await open({
    handlers: {
      broken: async () => ({
        headers: { "Eth-Consensus-Version": "deneb" },
        // biome-ignore lint/correctness/useYield: it fails before it has anything to yield.
        body: (async function* (): AsyncGenerator<Buffer> {
          throw new Error("a secret of the node");
        })(),
      }),
    },
  });
  const received = await server.post(requestText({ method: '"broken"' }));
  expect(JSON.parse(received.text).error).toEqual({ code: -32603, message: "Internal error", data: { status: 500 } });
  expect(received.headers["eth-consensus-version"]).toBeUndefined();
});

it.each([requestText({ method: '"late_break"' }), `[${requestText({})},${requestText({ method: '"late_break"' })}]`])(
  "a stream that breaks later cuts the connection: %s",
  async (body) => {
    const server = await open();
    await expect(startPost(server, body).then(text)).rejects.toMatchObject({ code: "ECONNRESET" });
    expect((await server.post(requestText({}))).status).toBe(200);
  },
);

it("closes later streams of a batch when one fails", async () => {
  const after = createEndlessStream();
  const server = await open({ handlers: { endless: async () => ({ body: after }) } });
  const body = `[${requestText({ method: '"late_break"' })},${requestText({ method: '"endless"' })}]`;
  await expect(startPost(server, body).then(text)).rejects.toMatchObject({ code: "ECONNRESET" });
  await after.stopped;
});

it("applies backpressure to the source and closes it when the client disconnects", async () => {
  const body = createEndlessStream();
  const server = await open({ handlers: { endless: async () => ({ body }) } });
  const incoming = await startPost(server, requestText({ method: '"endless"' }));
  const heldBack = await whenQuiet(() => body.pulled);
  // The socket buffers hold at most a few MiB.
  expect(heldBack * CHUNK.length).toBeLessThan(64 * 1024 * 1024);
  incoming.destroy();
  await body.stopped;
});

it("closes a stalled source when the client disconnects", async () => {
  const body = createStuckStream();
  const server = await open({ handlers: { stuck: async () => ({ body }) } });
  const incoming = await startPost(server, requestText({ method: '"stuck"' }));
  incoming.destroy();
  await body.stopped;
});

it("disconnects a client that stops reading", async () => {
  const body = createEndlessStream();
  const server = await open({ handlers: { endless: async () => ({ body }) }, limits: { stallMillis: 50 } });
  const incoming = await startPost(server, requestText({ method: '"endless"' }));
  await body.stopped;
  await expect(text(incoming)).rejects.toMatchObject({ code: "ECONNRESET" });
});

it("closes a stream if the client disconnected before its start", async () => {
  const body = createEndlessStream();
  const called = createSignal();
  const go = createSignal();
  const left = createSignal();
  const server = await open({
    handlers: {
      endless: async () => {
        called.trigger();
        await go.promise;
        return { body };
      },
    },
  });
  const outgoing = request(server.url, {
    method: "POST",
    agent: false,
    headers: { "Content-Type": "application/json" },
  });
  outgoing.on("error", left.trigger);
  outgoing.end(requestText({ method: '"endless"' }));
  await called.promise;
  outgoing.destroy();
  await left.promise;
  go.trigger();
  await body.stopped;
});

it("does not start responses queued on a broken connection", async () => {
  const first = createStuckStream();
  const second = vi.fn(async () => json(1));
  const server = await open({ handlers: { first: async () => ({ body: first }), second } });
  const message = (body: string) =>
    `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const socket = connect(server.port, "127.0.0.1");
  socket.write(message(requestText({ method: '"first"' })) + message(requestText({ method: '"second"' })));
  await once(socket, "data");
  socket.destroy();
  await first.stopped;
  await server.post(requestText({}));
  expect(second).not.toHaveBeenCalled();
});

/** Waits until a count that grows with the turns of the event loop has stopped growing. */
async function whenQuiet(count: () => number): Promise<number> {
  let last = -1;
  for (let quietTurns = 0; quietTurns < 100; quietTurns++) {
    await new Promise(setImmediate);
    if (count() !== last) quietTurns = 0;
    last = count();
  }
  return last;
}
