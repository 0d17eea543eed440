import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { WebSocketServer } from "ws";
import { Channel } from "../../test/support/server/events/channel.ts";
import { createSignal } from "../../test/support/server/http/http.ts";
import { json, openTestServer, type TestServerOptions } from "../../test/support/server/jsonrpc/server.ts";
import { type ClientOptions, createClient, RpcError } from "./index.ts";

async function serve(options: TestServerOptions = {}): Promise<{ url: string; close(): Promise<void> }> {
  const server = await openTestServer(options);
  onTestFinished(() => server.close());
  return server;
}

function connect(options: ClientOptions) {
  const client = createClient(options);
  onTestFinished(() => client.close());
  return client;
}

const TRANSPORTS: [name: string, urlOf: (url: string) => string][] = [
  ["HTTP", (url) => url],
  ["WebSocket", (url) => url.replace("http", "ws")],
];

describe.each(TRANSPORTS)("over %s", (_name, urlOf) => {
  it("calls a method with parameters by name, and returns its result", async () => {
    const head = { head_slot: "8" };
    const { url } = await serve({ handlers: { getChainHead: async () => json(head) } });
    const client = connect({ url: urlOf(url) });
    expect(await client.getChainHead()).toEqual(head);
    expect(await client.call("echo", { state_id: "head", slot: 5 })).toEqual({ state_id: "head", slot: 5 });
    expect(await Promise.all([1, 2, 3].map((n) => client.call("echo", [n])))).toEqual([[1], [2], [3]]);
  });

  it("rejects a bare value as parameters", async () => {
    const { url } = await serve();
    const client = connect({ url: urlOf(url) });
    await expect(client.call("dev_advance", 4 as unknown as object)).rejects.toThrow(
      "dev_advance takes its parameters by name, as one object; 4 was given.",
    );
  });

  it("throws the error of the node", async () => {
    const { url } = await serve();
    const failing = connect({ url: urlOf(url) }).call("fail", ["rejected", "Why.", [{ index: 1, message: "No." }]]);
    const error: unknown = await failing.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RpcError);
    expect(error).toMatchObject({
      name: "RpcError",
      code: -32003,
      message: "It failed as rejected.",
      data: { detail: "Why.", failures: [{ index: 1, message: "No." }] },
    });
  });

  it("sends a batch, with errors in place of results", async () => {
    const { url } = await serve({
      limits: { batchLength: 2 },
      handlers: { getChainHead: async () => json("head") },
    });
    const client = connect({ url: urlOf(url) });
    const results = await client.batch([["getChainHead"], ["get_v1_beacon_states_root", { state_id: "head" }]]);
    expect(results).toEqual(["head", expect.objectContaining({ code: -32601 })]);
    expect(await client.batch([])).toEqual([]);
    const refused = await client.batch([["getChainHead"], ["getChainHead"], ["getChainHead"]]);
    expect(refused).toEqual(Array(3).fill(expect.objectContaining({ code: -32005 })));
  });

  it("is served with the required token, and rejected without it", async () => {
    const { url } = await serve({ access: { token: "a-token-of-enough-characters-1234" } });
    const welcome = connect({ url: urlOf(url), token: "a-token-of-enough-characters-1234" });
    expect(await welcome.call("null")).toBeNull();
    await expect(connect({ url: urlOf(url) }).call("null")).rejects.toThrow(
      urlOf(url) === url ? /responded with HTTP status 401: .*token/ : /The node at ws:.* is unreachable or rejected/,
    );
  });

  it("rejects when the signal aborts or the client is closed", async () => {
    const { url } = await serve({ webSocketLimits: { closeHandshakeMillis: 1 } });
    const client = connect({ url: urlOf(url) });
    const stopping = new AbortController();
    const waiting = client.call("never", {}, stopping);
    stopping.abort(new Error("Enough."));
    await expect(waiting).rejects.toThrow("Enough.");
    await expect(client.call("null", {}, stopping)).rejects.toThrow("Enough.");
    expect(await client.call("null")).toBeNull();
    const unanswered = client.call("never");
    const refusal = expect(unanswered).rejects.toThrow(/client (is|was) closed/);
    await client.close();
    await refusal;
    await expect(client.call("null")).rejects.toThrow("The client is closed.");
  });

  it("ends a call with its own signal when it is closed", async () => {
    const { url } = await serve({ webSocketLimits: { closeHandshakeMillis: 1 } });
    const client = connect({ url: urlOf(url) });
    const { signal } = new AbortController();
    const refusal = expect(client.call("never", {}, { signal })).rejects.toThrow(/client (is|was) closed/);
    await client.close();
    await refusal;
  });

  it("sends the credentials of its URL, and never shows them", async () => {
    const heard: (string | undefined)[] = [];
    const server = createServer((req, res) => {
      heard.push(req.headers.authorization);
      res.writeHead(401).end("No.");
    });
    server.on("upgrade", (req, socket) => {
      heard.push(req.headers.authorization);
      socket.end("HTTP/1.1 401 Unauthorized\r\n\r\n");
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const calling = connect({ url: urlOf(`http://us%20er:se%C3%A9cret@${address}`) }).call("null");
    const error = (await calling.catch((thrown: unknown) => thrown)) as Error;
    expect(error.message).toContain(urlOf(`http://${address}`));
    expect(error.message).not.toMatch(/cret/);
    expect(new Set(heard)).toEqual(new Set([`Basic ${Buffer.from("us er:seécret").toString("base64")}`]));
  });

  it("reports an unreachable node", async () => {
    const server = await openTestServer();
    await server.close();
    await expect(connect({ url: urlOf(server.url) }).call("null")).rejects.toThrow(
      `The node at ${urlOf(server.url)} is unreachable`,
    );
  });
});

it.each(["ftp://user:secret@host", "user:secret@host/path", "//user:secret@host"])(
  "shows no password of the invalid URL %s",
  (url) => {
    expect(() => createClient({ url })).toThrow(/Invalid node URL/);
    expect(() => createClient({ url })).not.toThrow(/secret/);
  },
);

it.each([
  ["HTTP://127.0.0.1:9190", "ws://127.0.0.1:9190"],
  ["Https://node.example/rpc", "wss://node.example/rpc"],
])("says at which URL there are events, beside %s", async (url, other) => {
  await expect(connect({ url }).subscribe(["head"], () => {})).rejects.toThrow(`with the URL ${other}.`);
});

it("reports that a message exceeds the size limit", async () => {
  const { url } = await serve({ limits: { bodyBytes: 1000 } });
  await expect(connect({ url: url.replace("http", "ws") }).call("echo", ["x".repeat(1000)])).rejects.toThrow(
    /was closed: A message is larger than 1000 bytes \(--max-body-bytes\)\.$/,
  );
});

describe("events", () => {
  async function serveEvents(channel: Channel, options: TestServerOptions = {}) {
    const { url, close } = await serve({
      ...options,
      handlers: {
        subscribe: async (_params, caller) => {
          const id = caller?.subscribe(channel.feed);
          // Published before the client knows the id of its subscription.
          channel.publish({ slot: "1" });
          return json(id);
        },
        unsubscribe: async (params, caller) =>
          json(caller?.unsubscribe((params as { subscription: string }).subscription)),
      },
    });
    return { url, close, client: connect({ url: url.replace("http", "ws") }) };
  }

  it("are delivered from the first one on, until unsubscribe", async () => {
    const channel = new Channel();
    const { client } = await serveEvents(channel);
    const heard: unknown[] = [];
    const third = createSignal();
    const subscription = await client.subscribe(["head", "block"], (event) => {
      heard.push(event);
      if (heard.length === 3) third.trigger();
    });
    channel.publish({ slot: "2" }, "block");
    channel.publish({ slot: "3" });
    await third.promise;
    await subscription.unsubscribe();
    await subscription.unsubscribe();
    expect(channel.readers).toBe(0);
    expect(await subscription.ended).toBeUndefined();
    expect(heard).toEqual([
      { topic: "head", data: { slot: "1" } },
      { topic: "block", data: { slot: "2" } },
      { topic: "head", data: { slot: "3" } },
    ]);
  });

  it("require a listener", async () => {
    const channel = new Channel();
    const { client } = await serveEvents(channel);
    const subscribe = client.subscribe as (topics: string[], listener?: unknown) => Promise<unknown>;
    for (const listener of [undefined, {}]) {
      await expect(subscribe(["head"], listener)).rejects.toThrow(/a listener function/);
    }
    expect(channel.readers).toBe(0);
  });

  it("end with the reason when the node ends them or disconnects", async () => {
    const channel = new Channel();
    const { client, close } = await serveEvents(channel);
    const cut = await client.subscribe(["head"], () => {});
    channel.disconnectAll();
    expect(await cut.ended).toMatchObject({ name: "RpcError", code: -32005 });
    const left = await client.subscribe(["head"], () => {});
    await close();
    expect(await left.ended).toMatchObject({ message: expect.stringMatching(/was closed: The node is shutting down/) });
  });

  it("end without a reason when the client is closed", async () => {
    const { client } = await serveEvents(new Channel());
    const subscription = await client.subscribe(["head"], () => {});
    await client.close();
    expect(await subscription.ended).toBeUndefined();
  });

  it("are rejected over HTTP, with the WebSocket URL", async () => {
    const { url } = await serve();
    await expect(connect({ url }).subscribe(["head"], () => {})).rejects.toThrow(url.replace("http", "ws"));
  });
});

it("rejects unsupported URLs with the valid schemes", () => {
  for (const url of ["ipc:///tmp/node", "localhost"]) {
    expect(() => createClient({ url })).toThrow(
      `Invalid node URL "${url}". It must start with http://, https://, ws:// or wss://.`,
    );
  }
});

it("shows the form of its options", () => {
  expect(() => createClient("http://user:secret@localhost:9190" as never)).toThrow(
    'createClient takes an object. Write createClient({ url: "http://localhost:9190" }).',
  );
  for (const options of [undefined, {}, { url: undefined }]) {
    expect(() => createClient(options as never)).toThrow(
      'createClient needs the "url" of a node, such as "http://127.0.0.1:9190", got undefined.',
    );
  }
});

it("reports the response of a server that does not speak JSON-RPC", async () => {
  const server = createServer((_request, response) => response.writeHead(502).end("<p>Bad gateway"));
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(connect({ url }).getChainHead()).rejects.toThrow(
    `${url} responded with HTTP status 502: <p>Bad gateway`,
  );
});

it("closes a connection with data other than JSON-RPC, and reconnects for the next call", async () => {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  onTestFinished(() => void server.close());
  const answers = ["Hello!", '{"jsonrpc":"2.0","id":2,"result":"head"}'];
  server.on("connection", (socket) => socket.on("message", () => socket.send(answers.shift()!)));
  await once(server, "listening");
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = connect({ url });
  await expect(client.getChainHead()).rejects.toThrow(`The connection to ${url} was closed`);
  expect(await client.getChainHead()).toBe("head");
});

it("rejects a token where a WebSocket cannot send one, as in browsers", async () => {
  class BrowserWebSocket {
    constructor(_url: string, protocols: unknown) {
      throw new SyntaxError(`The subprotocol '${protocols}' is invalid.`);
    }
  }
  vi.stubGlobal("WebSocket", BrowserWebSocket);
  onTestFinished(() => void vi.unstubAllGlobals());
  await expect(connect({ url: "ws://127.0.0.1:9190", token: "secret" }).getChainHead()).rejects.toThrow(
    /cannot send a token or credentials\. Use an HTTP URL/,
  );
});
