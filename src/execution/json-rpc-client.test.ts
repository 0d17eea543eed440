import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { EndpointError, JsonRpcClient, JsonRpcRefusal, TooMuchError } from "./json-rpc-client.ts";

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const answering = (body: string, status = 200) =>
  serve((_, response) => {
    response.statusCode = status;
    response.end(body);
  });

const failure = (url: string, options: { timeoutMs?: number; maxAnswerBytes?: number } = {}) =>
  new JsonRpcClient({ url, ...options }).call("eth_chainId", []).then(
    () => new Error("It succeeded."),
    (error: unknown) => error as Error,
  );

describe("JsonRpcClient", () => {
  it("calls by POST, and gives the result", async () => {
    const url = await serve(async (request, response) => {
      const { id, ...call } = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString());
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { verb: request.method, call } }));
    });
    expect(await new JsonRpcClient({ url }).call("eth_call", [1, "2"])).toEqual({
      verb: "POST",
      call: { jsonrpc: "2.0", method: "eth_call", params: [1, "2"] },
    });
  });

  it("shows who calls, and leaves credentials and path out of the name", async () => {
    const url = await serve((request, response) => {
      response.end(JSON.stringify({ result: request.headers.authorization ?? null }));
    });
    const { host } = new URL(url);
    const named = new JsonRpcClient({ url: `http://user:p%40ss@${host}/secret` });
    expect(named.name).toBe(host);
    expect(await named.call("x", [])).toBe(`Basic ${Buffer.from("user:p@ss").toString("base64")}`);
    expect(await new JsonRpcClient({ url, authorize: () => "Bearer 1" }).call("x", [])).toBe("Bearer 1");
    expect(await new JsonRpcClient({ url }).call("x", [])).toBeNull();
  });

  it("calls once more when the server has closed a connection that was idle", async () => {
    let calls = 0;
    const url = await serve((request, response) => {
      calls += 1;
      if (calls === 2) request.socket.destroy();
      else response.end('{"result":1}');
    });
    const client = new JsonRpcClient({ url });
    expect(await client.call("x", [])).toBe(1);
    expect(await client.call("x", [])).toBe(1);
    expect(calls).toBe(3);
  });

  it("tells a refusal from a server that cannot be used", async () => {
    const refusal = '{"error":{"code":-32005,"message":"too many results"}}';
    for (const status of [200, 429]) {
      const error = await failure(await answering(refusal, status));
      expect(error).toBeInstanceOf(JsonRpcRefusal);
      expect(error).toMatchObject({ code: -32005, message: "too many results" });
    }
    const unauthorized = await failure(await answering("no", 401));
    expect(unauthorized).toBeInstanceOf(EndpointError);
    expect(unauthorized.message).toBe("answers with the HTTP status 401 Unauthorized");
    for (const body of ["<html>", "[]", "{}"]) {
      expect((await failure(await answering(body))).message).toBe("does not answer as a JSON-RPC server does");
    }
    expect((await failure("http://127.0.0.1:9")).message).toBe("cannot be reached (bad port)");
  });

  it("gives up what is too slow or too large", async () => {
    const slow = await failure(await serve(() => {}), { timeoutMs: 20 });
    expect(slow).toBeInstanceOf(TooMuchError);
    expect(slow.message).toBe("did not answer eth_chainId within 0.02 seconds");
    const large = await failure(await answering(`{"result":"${"x".repeat(2000)}"}`), { maxAnswerBytes: 1024 });
    expect(large).toBeInstanceOf(TooMuchError);
  });

  it("ends with the signal", async () => {
    const url = await serve(() => controller.abort(new Error("enough")));
    const controller = new AbortController();
    await expect(new JsonRpcClient({ url }).call("x", [], controller.signal)).rejects.toThrow("enough");
  });
});
