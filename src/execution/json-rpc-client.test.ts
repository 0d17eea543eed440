import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ReceivedCall, ScriptedError, ScriptedServer } from "../../test/support/execution/scripted-server.ts";
import { FakeTimers } from "../../test/support/time/fake-timers.ts";
import { JsonRpcClient, JsonRpcFailure, JsonRpcResponseError } from "./json-rpc-client.ts";

let server: ScriptedServer;
let client: JsonRpcClient;

beforeEach(async () => {
  server = await new ScriptedServer({ sum: ([a, b]) => Number(a) + Number(b), nothing: () => null }).start();
  client = new JsonRpcClient({ url: server.url });
});

afterEach(async () => {
  client.close();
  await server.stop();
});

const call = (method: string, ...params: unknown[]) => client.call(method, params, { timeoutMs: 5000 });

async function failureOf(promise: Promise<unknown>): Promise<JsonRpcFailure> {
  const error = await promise.then(
    () => new Error("There was an answer."),
    (reason: unknown) => reason,
  );
  if (error instanceof JsonRpcFailure) return error;
  throw error;
}

describe("JsonRpcClient", () => {
  it("returns results, including null, over one connection", async () => {
    expect(await call("sum", 2, 3)).toBe(5);
    expect(await call("nothing")).toBeNull();
    expect(new Set(server.calls.map(({ socket }) => socket)).size).toBe(1);
  });

  it("evaluates its headers for every call", async () => {
    let count = 0;
    client = new JsonRpcClient({ url: server.url, headers: () => ({ authorization: `number ${++count}` }) });
    await call("nothing");
    await call("nothing");
    expect(server.calls.map(({ authorization }) => authorization)).toEqual(["number 1", "number 2"]);
  });

  it("reports the code and message of an error", async () => {
    server.on("fail", () => {
      throw new ScriptedError(-38001, "Unknown payload");
    });
    const error = await call("fail").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(JsonRpcResponseError);
    expect(error).toMatchObject({
      code: -38001,
      message: `${server.url} rejected fail: Unknown payload (code -38001).`,
    });
  });

  it("truncates long error messages", async () => {
    server.on("fail", () => {
      throw new ScriptedError(-32000, "x".repeat(100_000));
    });
    const { message } = (await call("fail").catch((reason: unknown) => reason)) as Error;
    expect(message.length).toBeLessThan(500);
  });

  it("keeps URL credentials out of errors", async () => {
    const url = new URL("/v3/secretkey?key=secret", server.url);
    url.username = "user";
    url.password = "secretword";
    client = new JsonRpcClient({ url: url.href });
    expect(await call("nothing")).toBeNull();
    await server.stop();
    expect((await failureOf(call("nothing"))).message).toMatch(
      new RegExp(`^Cannot call nothing at ${server.url}: connect ECONNREFUSED 127\\.0\\.0\\.1:\\d+\\.$`),
    );
  });

  it.each<[string, number, string, string]>([
    ["a page", 404, "<html>", '"<html>"'],
    ["no object", 200, "[]", '"[]"'],
    ["an answer to something else", 200, '{"jsonrpc":"2.0","id":77,"result":1}', "77"],
    ["an answer of another protocol", 200, '{"id":1,"result":1}', "not a JSON-RPC response"],
    ["neither result nor error", 200, '{"jsonrpc":"2.0","id":1}', "neither a result nor an error"],
    ["an error that is none", 200, '{"jsonrpc":"2.0","id":1,"error":"no"}', "neither a result nor an error"],
  ])("rejects %s", async (_, status, body, words) => {
    server.raw = (_call, response) => response.writeHead(status).end(body);
    const { kind, message } = await failureOf(call("nothing"));
    expect(kind).toBe("unusable");
    expect(message).toContain(`${server.url} returned an invalid response to nothing: `);
    expect(message.replaceAll('\\"', '"')).toContain(words);
  });

  it.each([401, 403])("reports status %i as unauthorized", async (status) => {
    server.raw = (_call, response) => response.writeHead(status).end("no");
    expect(await failureOf(call("nothing"))).toMatchObject({ kind: "unauthorized" });
  });

  it("accepts an error with another status than 200", async () => {
    server.raw = ({ id }, response) =>
      response.writeHead(500).end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32603, message: "broken" } }));
    await expect(call("nothing")).rejects.toThrow("rejected nothing: broken (code -32603).");
  });

  it("aborts a response that is too large, and detects a truncated one", async () => {
    client = new JsonRpcClient({ url: server.url, maxResponseBytes: 1000 });
    server.raw = (_call, response) => response.end(" ".repeat(1001));
    expect((await failureOf(call("nothing"))).message).toContain("it exceeds 1000 bytes");
    server.raw = ({ socket }, response) => {
      response.writeHead(200, { "content-length": 100 });
      response.write("{", () => socket.destroy());
    };
    expect((await failureOf(call("nothing"))).message).toContain("it was truncated after 1 bytes");
  });

  it("retries a call once if the server closed the idle connection", async () => {
    const seen = new Set<unknown>();
    const resetReused = ({ socket, id }: ReceivedCall, response: { end(body: string): void }) => {
      if (seen.has(socket)) socket.destroy();
      else response.end(JSON.stringify({ jsonrpc: "2.0", id, result: "here" }));
      seen.add(socket);
    };
    server.raw = resetReused;
    expect(await call("nothing")).toBe("here");
    expect(await call("nothing")).toBe("here");
    expect(server.calls).toHaveLength(3);
  });

  describe("reports a reconnect", () => {
    let reconnected: number;

    beforeEach(() => {
      reconnected = 0;
      client = new JsonRpcClient({ url: server.url, onReconnect: () => reconnected++ });
    });

    it("between two calls, as after a server restart", async () => {
      await Promise.all([call("nothing"), call("nothing")]);
      expect(reconnected).toBe(0);
      await server.stop();
      await server.start();
      await Promise.all([call("nothing"), call("nothing")]);
      await call("nothing");
      expect(reconnected).toBe(1);
    });

    it("during a retried call", async () => {
      await call("nothing");
      server.raw = ({ socket }) => {
        server.raw = null;
        socket.destroy();
      };
      await call("nothing");
      await call("nothing");
      expect(reconnected).toBe(1);
    });

    it("but not for a server without keep-alive", async () => {
      server.raw = ({ id }, response) => {
        response.setHeader("connection", "close");
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result: "here" }));
      };
      for (let time = 0; time < 3; time++) await call("nothing");
      expect(reconnected).toBe(0);
    });
  });

  it("does not retry a call on a new connection", async () => {
    server.raw = ({ socket }) => socket.destroy();
    expect(await failureOf(call("nothing"))).toMatchObject({ kind: "unreachable" });
    expect(server.calls).toHaveLength(1);
  });

  it("times out, and can be aborted", async () => {
    const timers = new FakeTimers();
    client = new JsonRpcClient({ url: server.url, timers });
    server.raw = () => {};
    const received = server.received("slow");
    const late = failureOf(client.call("slow", [], { timeoutMs: 8000 }));
    await received;
    await timers.advance(8000);
    expect(await late).toMatchObject({ kind: "timeout", message: `${server.url} did not respond to slow within 8 s.` });

    const abort = new AbortController();
    const ended = failureOf(client.call("slow", [], { timeoutMs: 8000, signal: abort.signal }));
    abort.abort();
    expect(await ended).toMatchObject({ kind: "ended" });
    const closed = failureOf(client.call("slow", [], { timeoutMs: 8000 }));
    client.close();
    expect(await closed).toMatchObject({ kind: "ended" });
  });
});
