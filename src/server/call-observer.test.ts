import { beforeEach, expect, it, onTestFinished } from "vitest";
import { openTestServer as openJsonRpc, type TestServerOptions } from "../../test/support/server/jsonrpc/server.ts";
import { Client } from "../../test/support/server/jsonrpc/websocket/client.ts";
import { openTestServer as openRest } from "../../test/support/server/rest/server.ts";
import type { CallObserver } from "./call-observer.ts";

interface Seen {
  call: string;
  /** Undefined until the call has ended. */
  outcome?: number | "ok";
  bytes: number;
}

let seen: Seen[];
const observer: CallObserver = {
  begin(server, method = "?") {
    const record: Seen = { call: `${server} ${method}`, bytes: 0 };
    seen.push(record);
    return {
      end(errorCode = undefined) {
        if (record.outcome !== undefined) throw new Error(`${record.call} ended twice.`);
        record.outcome = errorCode ?? "ok";
      },
      bytes(count) {
        record.bytes += count;
      },
    };
  },
};
beforeEach(() => {
  seen = [];
});

const outcomes = () => seen.map(({ call, outcome }) => `${call} ${outcome}`);
const call = (method: string, params: unknown[] = []) => ({ jsonrpc: "2.0", id: 1, method, params });
const notification = (method: string, params: unknown[] = []) => ({ jsonrpc: "2.0", method, params });

async function openServer(options: TestServerOptions = {}) {
  const server = await openJsonRpc({ ...options, observer });
  onTestFinished(server.close);
  return server;
}

it("observes each JSON-RPC call once, with error code and response bytes, streams included", async () => {
  const { post } = await openServer({ classes: { large: "admin" }, access: { classes: ["read"] } });
  for (const method of ["null", "stream", "fail", "crash", "nothing", "large", "empty_stream"]) {
    const { text } = await post(JSON.stringify(call(method, method === "fail" ? ["not-found"] : [])));
    expect(seen.at(-1)?.bytes).toBe(text.length);
  }
  expect(outcomes()).toEqual([
    "json-rpc null ok",
    "json-rpc stream ok",
    "json-rpc fail -32001",
    "json-rpc crash -32603",
    "json-rpc ? -32601",
    "json-rpc large -32004",
    "json-rpc empty_stream -32603",
  ]);
});

it("observes invalid calls, batches and notifications", async () => {
  const { post } = await openServer({ limits: { batchLength: 4, batchBytes: 1000 } });
  await post("{");
  await post("[]");
  await post(JSON.stringify([1, 2, 3, 4, 5]));
  await post(JSON.stringify([call("large"), 1, notification("null"), call("nothing")]));
  await post(JSON.stringify(notification("fail", ["server"])));
  expect(outcomes()).toEqual([
    "json-rpc ? -32700",
    "json-rpc ? -32600",
    "json-rpc ? -32005",
    "json-rpc large ok",
    "json-rpc ? -32600",
    "json-rpc null ok",
    "json-rpc ? -32601",
    "json-rpc fail -32000",
  ]);
  expect(seen.filter(({ bytes }) => bytes === 0).map(({ call }) => call)).toEqual(["json-rpc null", "json-rpc fail"]);
});

it("observes calls that exceed the batch limits", async () => {
  const { post } = await openServer({ limits: { batchBytes: 1000 } });
  // Calls that are already running are answered. Only later ones are rejected.
  await post(JSON.stringify([...Array(4).fill(call("large")), call("null")]));
  expect(outcomes()).toEqual([...Array(4).fill("json-rpc large ok"), "json-rpc null -32005"]);
});

it("distinguishes WebSocket from HTTP", async () => {
  const { url } = await openServer();
  const client = await Client.connect(url);
  await client.call("null");
  expect(outcomes()).toEqual(["websocket null ok"]);
});

it("observes REST requests by method, including unknown paths", async () => {
  const server = await openRest({ observer, limits: { smallBodyBytes: 10 } });
  onTestFinished(server.close);
  for (const path of ["/empty", "/stream", "/large", "/invalid", "/crash", "/broken-early", "/nowhere", "/%ff"]) {
    const { text } = await server.ask(path);
    expect(seen.at(-1)?.bytes).toBe(text.length);
  }
  await server.ask("/echo/n", { method: "POST", body: "x".repeat(11) });
  await server.ask("/empty", { method: "OPTIONS" });
  expect(outcomes()).toEqual([
    "rest GET /empty ok",
    "rest GET /stream ok",
    "rest GET /large ok",
    "rest GET /invalid 400",
    "rest GET /crash 500",
    "rest GET /broken-early 503",
    "rest ? 404",
    "rest ? 400",
    "rest POST /echo/{name} 413",
  ]);
});

it("counts refusals by limit in the server load", async () => {
  const { post, load } = await openServer({ limits: { requestsPerSecond: 1, heldBytes: 100_000 } });
  const { status } = await post(JSON.stringify(call("echo", ["x".repeat(200_000)])));
  expect(status).toBe(503);
  const statuses = await Promise.all(Array.from({ length: 5 }, () => post(JSON.stringify(call("null")))));
  const refused = statuses.filter((answer) => answer.status === 429).length;
  expect(refused).toBeGreaterThan(0);
  expect(load().refused).toEqual({
    connections: 0,
    "request rate": refused,
    "request bytes": 1,
    "answer bytes": 0,
  });
});
