import { once } from "node:events";
import { connect } from "node:net";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { Revision } from "../../chain/revision.ts";
import { Failure, unavailable } from "../../errors/failure.ts";
import { SharedStream } from "../../json/shared-stream.ts";
import { ANY_STATUS } from "../../json/validator-status.ts";
import { BALANCE_BYTES } from "../../json/writers/registry-chunks.ts";
import { createRecordingLogger, type LogRecord } from "../../log/recording-logger.test-support.ts";
import { VALIDATOR_BYTES } from "../../ssz/validator-layout.ts";
import type { CallStats } from "../call-stats.ts";
import { Channel } from "../events/channel.test-support.ts";
import { SseClient } from "../events/sse-client.test-support.ts";
import { createSignal, type RequestInit, send, streamOf } from "../http/http.test-support.ts";
import { Client } from "../jsonrpc/websocket/client.test-support.ts";
import { ListenError } from "../listen-error.ts";
import type {
  CacheDependency,
  CachePolicy,
  CallableMethod,
  Caller,
  Cancellation,
  MethodResponse,
  Params,
} from "../method-table.ts";
import type { RestRoute } from "../rest/route-table.ts";
import { type ServedApi, ServersThread } from "./servers-thread.ts";

const ANYWHERE = { host: "127.0.0.1", port: 0 };
const LARGE_BYTES = 9 * 1024 * 1024;

const json = (value: unknown): MethodResponse => ({ body: Buffer.from(JSON.stringify(value)) });

type Handler = (params: Params, caller?: Caller, cancellation?: Cancellation) => Promise<MethodResponse>;

const channel = new Channel();
const log: LogRecord[] = [];
const calls: CallStats[] = [];
const revision = new Revision();
/** Values of the cacheable methods and routes, and how often they were called. */
const chain = { head: "a", status: "well", asked: 0, balance: 7, elementsAsked: 0 };
const given = { up: createSignal(), pulled: 0, returned: createSignal(), shared: createSignal() };

async function* endless(): AsyncGenerator<Buffer> {
  try {
    for (;;) {
      given.pulled++;
      yield Buffer.alloc(64 * 1024, "x");
    }
  } finally {
    given.returned.trigger();
  }
}

async function* broken(...chunks: string[]): AsyncGenerator<Buffer> {
  yield* streamOf(...chunks);
  throw unavailable("The stream broke.");
}

const handlers: Record<string, Handler> = {
  echo: async (params) => json(params),
  described: async () => ({
    ...json("block"),
    meta: { finalized: true },
    headers: { "Eth-Consensus-Version": "fulu" },
  }),
  fail: async () => {
    throw new Failure("rejected", "It failed.", { detail: "All of it.", failures: [{ index: 1, message: "No." }] });
  },
  crash: async () => {
    throw new Error("a secret of the node");
  },
  large: async () => json("é".repeat(LARGE_BYTES / 2)),
  stream: async () => ({ body: streamOf("[1,", "", "2]") }),
  shared: async () => {
    const balances = BigUint64Array.from({ length: 3 }, (_, index) => BigInt(index));
    const chunk = new SharedArrayBuffer(balances.byteLength);
    new BigUint64Array(chunk).set(balances);
    const stream = SharedStream.of({ writer: "balances", input: { balanceChunks: [chunk] } });
    stream.onEnd(given.shared.trigger);
    return { body: stream };
  },
  broken: async () => ({ body: broken() }),
  brokenLate: async () => ({ body: broken("[1,") }),
  endless: async () => ({ body: endless() }),
  waits: (_params, _caller, cancellation) =>
    new Promise((_resolve, reject) => {
      cancellation?.signal.addEventListener("abort", () => {
        given.up.trigger();
        reject(cancellation.signal.reason);
      });
    }),
  subscribe: async (_params, caller) => {
    const id = await caller!.subscribe(channel.feed);
    channel.publish({ number: "of before the answer" });
    return json(id);
  },
  unsubscribe: async (params, caller) => json(await caller!.unsubscribe((params as [string])[0])),
  head: async () => {
    chain.asked++;
    return json(chain.head);
  },
  status: async () => {
    chain.asked++;
    return json(chain.status);
  },
};

const list = (): SharedStream => {
  const validatorChunks = [new SharedArrayBuffer(3 * VALIDATOR_BYTES)];
  const balanceChunks = [new SharedArrayBuffer(3 * BALANCE_BYTES)];
  new BigUint64Array(balanceChunks[0]!).set([0n, 1n, BigInt(chain.balance)]);
  const input = { validatorChunks, balanceChunks, epoch: 0, statuses: ANY_STATUS };
  return SharedStream.of({ writer: "validators", input });
};
handlers.list = async () => ({ body: list(), meta: { finalized: false } });
handlers.element = async () => {
  chain.elementsAsked++;
  return json("of the main thread");
};

const preparedAhead = (on: CacheDependency): CachePolicy => ({ on, isPrewarmed: true });
const policies: Record<string, CachePolicy> = {
  head: preparedAhead("head"),
  status: preparedAhead("status"),
  described: preparedAhead("nothing"),
  list: preparedAhead("head"),
  element: preparedAhead("head"),
};

const methods = new Map<string, CallableMethod>(
  Object.entries(handlers).map(([name, call]) => [
    name,
    {
      name,
      cost: "cheap",
      access: "read",
      takesLargeBody: name === "echo",
      isCacheable: name in policies,
      elementOf: name === "element" ? "list" : undefined,
      cachePolicy: (params) => (Object.keys(params).length < 2 || name === "element" ? policies[name] : undefined),
      call,
    },
  ]),
);

const route = (verb: "GET" | "POST", path: string, handle: RestRoute["handle"]): RestRoute => ({
  method: path,
  verb,
  path,
  access: "read",
  answers: ["json"],
  accepts: verb === "POST" ? ["json"] : [],
  handle,
});
const restAnswer = (value: unknown) => ({
  status: 200,
  content: { format: "json" as const, parts: [Buffer.from('{"data":'), json(value).body, Buffer.from("}")] },
});

const served: ServedApi = {
  methods: { entries: () => methods.entries(), find: (name) => methods.get(name) },
  routes: [
    route("GET", "/about/{name}", async (request) => {
      const { params, query, headers } = request;
      const { tag, isHeld } = request.entity("source");
      if (isHeld) return { status: 304, cacheLifetime: "while-unchanged", tag };
      return { ...restAnswer({ params, query, custom: headers["eth-custom"] }), cacheLifetime: "while-unchanged", tag };
    }),
    route("POST", "/body", async (request) => restAnswer([request.bodyFormat, request.body?.toString()])),
    route("GET", "/stream", async () => ({
      status: 200,
      content: { format: "json", parts: [Buffer.from('{"data":'), streamOf("[1,", "2]"), Buffer.from("}")] },
    })),
    {
      ...route("GET", "/status/{name}", async () => {
        chain.asked++;
        return { ...restAnswer(chain.status), tag: '"status"', cacheLifetime: "while-unchanged" };
      }),
      isCacheable: true,
      cachePolicy: ({ params }) => (params.name === "kept" ? preparedAhead("status") : undefined),
    },
    {
      ...route("GET", "/lists/{list}", async () => ({
        status: 200,
        content: { format: "json", parts: [Buffer.from('{"data":'), list(), Buffer.from("}")] },
      })),
      method: "list",
      isCacheable: true,
      cachePolicy: () => preparedAhead("head"),
    },
    {
      ...route("GET", "/lists/{list}/{index}", async () => {
        chain.elementsAsked++;
        return restAnswer("of the main thread");
      }),
      elementOf: "list",
      isCacheable: true,
      cachePolicy: () => preparedAhead("head"),
    },
    { ...route("GET", "/events", async () => ({ status: 200, feed: channel.feed })), answers: [] },
  ],
  feed: () => channel.feed,
  revision,
};

let thread: ServersThread;
let rpcUrl: string;
let restUrl: string;
beforeAll(async () => {
  thread = new ServersThread(createRecordingLogger(log), { servesRest: true });
  const urls = await thread.serve(served, {
    listen: { "json-rpc": ANYWHERE, rest: ANYWHERE },
    observe: (tallies) => calls.push(...tallies),
  });
  rpcUrl = urls["json-rpc"]!;
  restUrl = urls.rest!;
});
afterAll(() => thread.close());

const ask = (path: string, init?: RequestInit) => send(restUrl, { path, ...init });

async function call(method: string, params: unknown = [], others: object = {}) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params, ...others });
  const { text } = await send(rpcUrl, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  return JSON.parse(text) as {
    result?: unknown;
    meta?: unknown;
    error?: { code: number; message: string; data: unknown };
  };
}

it("returns results of main-thread methods of any size and kind", async () => {
  const params = { text: "é😀\ud800", deep: [[{}], null, true], __proto__: 1 };
  expect((await call("echo", params)).result).toEqual(params);
  const many = Array.from({ length: 20_000 }, (_, index) => `${index} é`);
  expect((await call("echo", [many])).result).toEqual([many]);
  expect((await call("echo", { many })).result).toEqual({ many });
  expect((await call("echo", undefined, { unknown: many })).result).toEqual([]);
  const irregular = '{"jsonrpc":"2.0","id":1,"method":"echo","params":[1.50,18446744073709551615,-0]}';
  const { text } = await send(rpcUrl, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: irregular,
  });
  expect(text).toBe('{"jsonrpc":"2.0","id":1,"result":[1.50,18446744073709551615,-0]}');
  expect((await call("described", [1, 2], { meta: true })).meta).toEqual({ finalized: true });
  expect(((await call("large")).result as string).length).toBe(LARGE_BYTES / 2);
  expect((await call("stream")).result).toEqual([1, 2]);
});

it("parses only the outline of a large message and reports errors in the rest", async () => {
  const post = (body: string) =>
    send(rpcUrl, { method: "POST", headers: { "Content-Type": "application/json" }, body }).then(({ text }) =>
      JSON.parse(text),
    );
  const many = `[${"[1],".repeat(50_000)}0]`;
  const twice = await post(`{"jsonrpc":"2.0","id":"a\\u0062","method":"echo","params":[],"p\\u0061rams":[${many}]}`);
  expect(twice).toEqual({ jsonrpc: "2.0", id: "ab", result: [JSON.parse(many)] });
  const unreadable = await post(`{"jsonrpc":"2.0","id":7,"method":"echo","params":[${many},]}`);
  expect(unreadable).toMatchObject({ id: null, error: { code: -32700 } });
  const unknown = await post(`{"jsonrpc":"2.0","id":7,"method":"ecko","params":[${many},]}`);
  expect(unknown).toMatchObject({ id: 7, error: { code: -32601 } });
  const long = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"echo","params":[${id},${many}]}`;
  const results = [8, 9].map((id) => ({ jsonrpc: "2.0", id, result: [id, JSON.parse(many)] }));
  expect(await post(`[${long(8)},${long(9)},7]`)).toMatchObject([...results, { id: null, error: { code: -32600 } }]);
});

it("serves bodies from shared memory and releases them", async () => {
  const balances = ["0", "1", "2"].map((index) => ({ index, balance: index }));
  expect((await call("shared")).result).toEqual(balances);
  await given.shared.promise;
});

it("forwards failures, and logs unexpected errors with their stacks in the main thread", async () => {
  expect((await call("fail")).error).toEqual({
    code: -32003,
    message: "It failed.",
    data: { status: 400, detail: "All of it.", failures: [{ index: 1, message: "No." }] },
  });
  expect((await call("broken")).error?.message).toBe("The stream broke.");
  await expect(call("brokenLate")).rejects.toThrow();
  expect((await call("crash")).error?.message).toBe("Internal error");
  // Log records arrive before the calls after them.
  await call("echo");
  const logged = log.find(({ message, fields }) => message.includes("unexpectedly") && fields?.method === "crash");
  expect(logged?.fields?.error).toMatch(/a secret of the node\n {4}at .*servers-thread\.test/);
  expect((await call("ecko")).error?.message).toContain('Did you mean "echo"?');
});

it("applies backpressure to a stream and closes it when the reader disconnects", async () => {
  const { hostname, port } = new URL(rpcUrl);
  const socket = connect(Number(port), hostname);
  const body = '{"jsonrpc":"2.0","id":1,"method":"endless"}';
  socket.write(
    `POST / HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await once(socket, "data");
  socket.pause();
  // The stream has settled once a call completes without another chunk.
  let pulled: number;
  do {
    pulled = given.pulled;
    for (let turn = 0; turn < 20; turn++) await call("echo");
  } while (given.pulled > pulled);
  // The socket buffers hold a few megabytes.
  expect(given.pulled).toBeLessThan(1000);
  socket.destroy();
  await given.returned.promise;
});

it("cancels a method when its caller disconnects", async () => {
  const client = await Client.connect(rpcUrl);
  void client.call("waits");
  await client.call("echo");
  client.socket.terminate();
  await given.up.promise;
});

it("opens a feed before the response of an event stream, and closes it after the last reader", async () => {
  const reader = await SseClient.connect(`${restUrl}/events`);
  expect(channel.readers).toBe(1);
  channel.publish({ number: 1 });
  expect(await reader.events.next()).toEqual({ topic: "head", data: { number: 1 } });
  reader.response.destroy();
  while (channel.readers > 0) await call("echo");
});

it("transfers events once for all readers of a feed, after the responses, and counts the readers", async () => {
  const clients = [await Client.connect(rpcUrl), await Client.connect(rpcUrl)];
  const ids = [];
  for (const client of clients) ids.push(await client.subscribe());
  expect(channel.readers).toBe(1);
  // The response with the id comes first.
  const [first, second] = [await clients[0]!.messages.next(), await clients[0]!.messages.next()];
  expect(JSON.parse(first)).toMatchObject({ result: ids[0] });
  expect(JSON.parse(second).params).toMatchObject({ subscription: ids[0], data: { number: "of before the answer" } });
  channel.publish({ number: 7 });
  for (const client of clients) {
    let told = await client.notifications.next();
    while ((told.data as { number: unknown }).number !== 7) told = await client.notifications.next();
  }
  expect((await clients[0]!.call("unsubscribe", ids[0])).result).toBe(true);
  expect((await clients[0]!.call("unsubscribe", ids[0])).result).toBe(false);
  expect((await call("unsubscribe", [ids[1]])).error?.message).toContain("WebSocket");
});

it("caches responses while their revision is unchanged", async () => {
  const asked = chain.asked;
  expect([(await call("head")).result, (await call("head")).result]).toEqual(["a", "a"]);
  expect(chain.asked).toBe(asked + 1);
  // Parameters without a cache policy.
  await call("head", [1, 2]);
  await call("head", [1, 2]);
  expect(chain.asked).toBe(asked + 3);
  chain.head = "b";
  revision.raise();
  expect([(await call("head")).result, (await call("head")).result]).toEqual(["b", "b"]);
});

it("caches status responses until the status changes, for both servers", async () => {
  const tell = async () => [(await call("status")).result, JSON.parse((await ask("/status/kept")).text).data];
  expect(await tell()).toEqual(["well", "well"]);
  await call("head");
  const askedBefore = chain.asked;
  expect(await tell()).toEqual(["well", "well"]);
  await call("head");
  expect(chain.asked).toBe(askedBefore);
  chain.status = "ill";
  revision.raiseStatus();
  expect([...(await tell()), ...(await tell())]).toEqual(["ill", "ill", "ill", "ill"]);
  const askedAfter = chain.asked;
  // Responses that depend only on the head are still cached.
  await call("head");
  expect(chain.asked).toBe(askedAfter);
  await ask("/status/other");
  await ask("/status/other");
  await ask("/status/kept", { headers: { "If-None-Match": '"another"' } });
  expect(chain.asked).toBe(askedAfter + 3);
});

it("serves elements from the descriptor of their list, after the next revision change", async () => {
  const balanceOf = (value: { balance?: string }) => value.balance ?? value;
  const tell = async (index: number) => [
    balanceOf((await call("element", ["head", String(index)])).result as never),
    balanceOf(JSON.parse((await ask(`/lists/head/${index}`)).text).data),
  ];
  const fromMain = ["of the main thread", "of the main thread"];
  const change = async () => {
    revision.raise();
    // The prewarmed list arrives before the response to a later call.
    await new Promise(setImmediate);
    await call("echo");
  };
  expect(await tell(0)).toEqual(fromMain);
  await call("echo");
  await change();
  const { elementsAsked } = chain;
  expect(await tell(1)).toEqual(["1", "1"]);
  expect(await tell(2)).toEqual(["7", "7"]);
  chain.balance = 8;
  await change();
  expect(await tell(2)).toEqual(["8", "8"]);
  expect(chain.elementsAsked).toBe(elementsAsked);
  // Other indexes out of range, other index formats and other lists are not served from it.
  expect(await tell(3)).toEqual(fromMain);
  expect((await call("element", ["head", 2])).result).toBe("of the main thread");
  expect((await call("element", ["other", "2"])).result).toBe("of the main thread");
});

it("prewarms responses to repeated calls, for both servers", async () => {
  const tell = async () => [
    (await call("head")).result,
    (await call("status")).result,
    JSON.parse((await ask("/status/kept")).text).data,
  ];
  // The second response is cached. Messages to the main thread arrive in order.
  await tell();
  await tell();
  await call("echo");
  const asked = chain.asked;
  Object.assign(chain, { head: "z", status: "fine" });
  revision.raise();
  while (chain.asked < asked + 3) await call("echo");
  await call("echo");
  expect(await tell()).toEqual(["z", "fine", "fine"]);
  expect(chain.asked).toBe(asked + 3);
});

it("sees revision changes before any later message", async () => {
  const tell = async () => (await call("head")).result;
  await tell();
  await revision.transaction(async () => {
    chain.head = "y";
    revision.raise();
    // The response to another call could reveal the new head.
    await call("echo");
    expect(await tell()).toBe("y");
  });
});

it("forwards REST requests unchanged", async () => {
  const about = await ask("/about/a%20b?c=d", { headers: { "Eth-Custom": "e" } });
  expect(JSON.parse(about.text)).toEqual({ data: { params: { name: "a b" }, query: "c=d", custom: "e" } });
  const tag = about.headers.etag as string;
  expect((await ask("/about/a%20b?c=d", { headers: { "If-None-Match": tag } })).status).toBe(304);
  const post = (type: string) => ask("/body", { method: "POST", headers: { "Content-Type": type }, body: "[1]" });
  expect(JSON.parse((await post("application/json")).text)).toEqual({ data: ["json", "[1]"] });
  expect((await post("text/plain")).status).toBe(415);
  expect((await ask("/stream")).text).toBe('{"data":[1,2]}');
});

it("reports calls, loads and event loop delay", async () => {
  await call("echo");
  await thread.refresh();
  calls.length = 0;
  await call("fail");
  await thread.refresh();
  expect(calls.filter(({ method }) => method === "fail")).toMatchObject([
    { server: "json-rpc", begun: 1, seconds: [expect.any(Number)], errorCodes: [-32003] },
  ]);
  expect(Array.from(thread.loads, ([server]) => server)).toEqual(["json-rpc", "rest"]);
  while (thread.lag?.max === 0) {
    for (let turn = 0; turn < 10; turn++) await call("echo");
    await thread.refresh();
  }
  expect(thread.lag?.max).toBeGreaterThanOrEqual(thread.lag!.p50);
});

it("forwards access log lines, the last of them before it is closed", async () => {
  const logged = new ServersThread(createRecordingLogger([]), { servesRest: true });
  let lines = "";
  const urls = await logged.serve(served, {
    listen: { rest: ANYWHERE },
    writeAccess: (more) => {
      lines += more;
    },
  });
  await send(urls.rest!, { path: "/stream" });
  await logged.close();
  expect(JSON.parse(lines)).toMatchObject({
    server: "rest",
    request: "GET /stream",
    status: 200,
    methods: ["/stream"],
  });
});

it("reports which server cannot listen, and why", async () => {
  const second = new ServersThread(createRecordingLogger([]), { servesRest: true });
  onTestFinished(() => second.close());
  const taken = { host: "127.0.0.1", port: Number(new URL(restUrl).port) };
  const refused = await second.serve(served, { listen: { "json-rpc": ANYWHERE, rest: taken } }).catch((error) => error);
  expect(refused).toBeInstanceOf(ListenError);
  expect(refused).toMatchObject({ server: "rest", code: "EADDRINUSE" });
});

it("reports an unexpected end of the thread and cancels its calls", async () => {
  const dying = new ServersThread(
    createRecordingLogger([]),
    { servesRest: false },
    () => new Worker("setTimeout(() => { throw new Error('no memory'); })", { eval: true }),
  );
  const listening = dying.serve(served, { listen: { "json-rpc": ANYWHERE } });
  await expect(listening).rejects.toThrow("The server thread ended unexpectedly");
  expect((await dying.failed).message).toContain("no memory");
  await dying.close();
});
