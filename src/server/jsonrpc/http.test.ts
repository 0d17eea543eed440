import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { send, sendAfterContinue } from "../../../test/support/server/http/http.ts";
import {
  openTestServer,
  requestText,
  type TestServer,
  type TestServerOptions,
} from "../../../test/support/server/jsonrpc/server.ts";
import { createJsonRpcServer } from "./server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openTestServer();
});
afterAll(() => server.close());

const servers: TestServer[] = [];
const open = async (options?: TestServerOptions) => {
  const own = await openTestServer(options);
  servers.push(own);
  return own;
};
afterEach(() => Promise.all(servers.splice(0).map((own) => own.close())));

describe("methods", () => {
  it.each(["GET", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "QUERY"])("%s: 405 with Allow", async (method) => {
    const received = await send(server.url, { method, headers: {} });
    expect(received.status).toBe(405);
    expect(received.headers.allow).toBe("OPTIONS, POST");
    expect(received.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(received.text)).toEqual({
      code: 405,
      message: "JSON-RPC requests must use the HTTP method POST.",
    });
  });

  it("GET names the REST server", async () => {
    const own = await open({ endpoints: { rest: "http://127.0.0.1:5052" } });
    const { text } = await send(own.url, { method: "GET", path: "/eth/v1/node/health", headers: {} });
    expect(JSON.parse(text).message).toBe(
      "JSON-RPC requests must use the HTTP method POST. The REST API is at http://127.0.0.1:5052.",
    );
  });

  it("HEAD: 405 without a body", async () => {
    const received = await send(server.url, { method: "HEAD", headers: {} });
    expect(received.status).toBe(405);
    expect(received.headers.allow).toBe("OPTIONS, POST");
    expect(received.text).toBe("");
  });

  it.each(["application/json", "text/plain"])("PUT with a body of %s: 405", async (type) => {
    const received = await send(server.url, {
      method: "PUT",
      headers: { "Content-Type": type },
      body: requestText({}),
    });
    expect(received.status).toBe(405);
  });

  it("OPTIONS: 204 with Allow and without CORS headers", async () => {
    const received = await send(server.url, { method: "OPTIONS" });
    expect(received.status).toBe(204);
    expect(received.headers.allow).toBe("OPTIONS, POST");
    expect(Object.keys(received.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});

describe("content types", () => {
  it.each([
    "application/json",
    "Application/JSON",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    "application/json-rpc",
    "application/jsonrequest",
  ])("%s is accepted", async (type) => {
    const received = await server.post(requestText({}), { headers: { "Content-Type": type } });
    expect(received.status).toBe(200);
    expect(received.text).toBe('{"jsonrpc":"2.0","id":1,"result":[]}');
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/jsonx",
    "application/octet-stream",
    "json",
    "",
  ])("%j: 415", async (type) => {
    const received = await server.post(requestText({}), { headers: { "Content-Type": type } });
    expect(received.status).toBe(415);
    expect(JSON.parse(received.text).message).toContain("The Content-Type header must be application/json");
  });

  it("Content-Encoding: gzip: 415", async () => {
    const headers = { "Content-Type": "application/json", "Content-Encoding": "gzip" };
    const received = await server.post(gzipSync(requestText({})), { headers });
    expect(received).toMatchObject({ status: 415, headers: { "accept-encoding": "identity" } });
    expect(JSON.parse(received.text)).toEqual({
      code: 415,
      message: "Compressed request bodies are not supported. Remove the Content-Encoding header.",
    });
    const plain = { ...headers, "Content-Encoding": "identity" };
    expect((await server.post(requestText({}), { headers: plain })).status).toBe(200);
  });

  it.each([requestText({}), ""])("absent with the body %j: 415", async (body) => {
    expect((await server.post(body, { headers: {} })).status).toBe(415);
  });
});

describe("paths", () => {
  it.each(["/", "/rpc", "/a/b?c=d", "/%zz", "//", "/*", "/%00"])("%s is accepted", async (path) => {
    expect((await server.post(requestText({}), { path })).status).toBe(200);
  });
});

describe("body size", () => {
  const limits = { bodyBytes: 100_000, smallBodyBytes: 50_000 };
  const bodyOf = (length: number) => requestText({}).padEnd(length);

  it("the largest allowed body is read", async () => {
    const own = await open({ limits });
    expect((await own.post(bodyOf(limits.bodyBytes))).status).toBe(200);
  });

  it.each([1, 8_000_000])("%i bytes more: 413", async (surplus) => {
    const own = await open({ limits });
    const received = await own.post(bodyOf(limits.bodyBytes + surplus));
    expect(received.status).toBe(413);
    expect(JSON.parse(received.text).message).toBe(
      "The request body is larger than 100000 bytes. Split it, or raise --max-body-bytes.",
    );
  });

  it("the limit is higher for methods with large parameters, wherever the name is", async () => {
    const own = await open({ limits });
    const large = (member: string) => `{"jsonrpc":"2.0","id":1,${member},"params":["${"x".repeat(60_000)}"]}`;
    expect((await own.post(large('"method":"echo"'))).status).toBe(200);
    expect((await own.post(`[${large('"method": "echo"')}]`)).status).toBe(200);
    expect((await own.post(large(`"other":"${"x".repeat(20_000)}","method":"echo"`))).status).toBe(200);
    const small = requestText({ method: '"null"' });
    expect((await own.post(`[${`${small},`.repeat(100)}${large('"method":"echo"')}]`)).status).toBe(200);
    const behind = `{"jsonrpc":"2.0","id":1,"params":["${"x".repeat(60_000)}"],"method":"echo"}`;
    expect((await own.post(behind)).status).toBe(200);
    expect(JSON.parse((await own.post(behind)).text)).toHaveProperty("result");
    expect(JSON.parse((await own.post(`[${behind}]`)).text)).toEqual([expect.objectContaining({ id: 1 })]);
    const noCall = `"${"x".repeat(60_000)}"`;
    for (const body of [large('"method":"null"'), large('"method":"unknown"'), noCall, `[${noCall}]`]) {
      const received = await own.post(body);
      expect(received.status).toBe(413);
      expect(JSON.parse(received.text).message).toBe(
        "The request body is larger than 50000 bytes. Only methods with large parameters, such as a block, accept " +
          "more; put such a call first in a batch.",
      );
    }
  });

  it("a body without Content-Length is measured as it arrives", async () => {
    const own = await open({ limits });
    const received = await own.post(bodyOf(8_000_000), {
      headers: { "Content-Type": "application/json", "Transfer-Encoding": "chunked" },
    });
    expect(received.status).toBe(413);
  });

  it("100 Continue is sent unless the headers are rejected", async () => {
    const own = await open({ limits });
    const wants = { "Content-Type": "application/json", Expect: "100-continue" };
    const ask = (method: string, headers: Record<string, string>) =>
      sendAfterContinue(own.url, method, headers, requestText({}));
    expect(await ask("POST", wants)).toMatchObject({ status: 200, wasTold: true });
    const length = String(limits.bodyBytes + 1);
    expect(await ask("POST", { ...wants, "Content-Length": length })).toMatchObject({ status: 413, wasTold: false });
    expect(await ask("POST", { ...wants, "Content-Type": "text/plain" })).toMatchObject({
      status: 415,
      wasTold: false,
    });
    expect(await ask("PUT", wants)).toMatchObject({ status: 405, wasTold: false, connection: "close" });
  });

  it("the default limit exceeds 16 MiB", async () => {
    const long = "x".repeat(17 * 1024 * 1024);
    const received = await server.post(requestText({ params: `["${long}"]` }));
    expect(received.text.length).toBe(long.length + '{"jsonrpc":"2.0","id":1,"result":[""]}'.length);
  });
});

describe("compression", () => {
  const call = (method: string, accepted?: string) =>
    server.post(requestText({ method: `"${method}"` }), {
      headers: { "Content-Type": "application/json", ...(accepted !== undefined && { "Accept-Encoding": accepted }) },
    });

  it.each(["large", "stream"])("of %s: only if accepted, with the same content", async (method) => {
    const plain = await call(method);
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(plain.headers.vary).toBe("Accept-Encoding");
    expect((await call(method, "gzip;q=0, br")).bytes).toEqual(plain.bytes);
    const compressed = await call(method, "br, gzip;q=0.5");
    expect(compressed.headers).toMatchObject({
      "content-encoding": "gzip",
      "content-type": "application/json",
      vary: "Accept-Encoding",
    });
    expect(compressed.headers["eth-consensus-version"]).toBe(plain.headers["eth-consensus-version"]);
    expect(gunzipSync(compressed.bytes)).toEqual(plain.bytes);
    if (method === "large") expect(compressed.headers["content-length"]).toBe(String(compressed.bytes.length));
  });

  it("of a batch covers the whole response", async () => {
    const batch = `[${requestText({ method: '"large"' })},${requestText({ id: "2" })}]`;
    const headers = { "Content-Type": "application/json", "Accept-Encoding": "gzip" };
    const { bytes } = await server.post(batch, { headers });
    expect(JSON.parse(gunzipSync(bytes).toString())).toMatchObject([{ id: 1 }, { id: 2, result: [] }]);
  });

  it("is not used for small responses", async () => {
    const { headers, text } = await call("echo", "gzip");
    expect(headers["content-encoding"]).toBeUndefined();
    expect(text).toBe('{"jsonrpc":"2.0","id":1,"result":[]}');
  });
});

describe("connections", () => {
  it("are kept alive, after errors too", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    for (const body of [
      requestText({}),
      "not JSON",
      requestText({ method: '"stream"' }),
      requestText({ id: undefined }),
    ]) {
      const outgoing = request(server.url, { method: "POST", agent, headers: { "Content-Type": "application/json" } });
      outgoing.end(body);
      const [incoming] = await once(outgoing, "response");
      ports.add(incoming.socket.localPort);
      await text(incoming);
    }
    expect(ports.size).toBe(1);
    agent.destroy();
  });

  it("with pipelined requests get the responses in order", async () => {
    const socket = connect(server.port, "127.0.0.1");
    const message = (body: string, headers = "") =>
      `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
    socket.write(
      message(requestText({ id: "1", method: '"large"' })) +
        message(requestText({ id: "2", method: '"stream"' })) +
        message(requestText({ id: "3" }), "Connection: close\r\n"),
    );
    const received = await text(socket);
    expect([...received.matchAll(/"id":(\d)/g)].map(([, id]) => id)).toEqual(["1", "2", "3"]);
  });

  it("without valid HTTP get 400 and are closed", async () => {
    const socket = connect(server.port, "127.0.0.1");
    socket.write("this is no HTTP\r\n\r\n");
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it("may break in the middle of a request", async () => {
    const socket = connect(server.port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
      () => socket.destroy(),
    );
    await once(socket, "close");
    expect((await server.post(requestText({}))).status).toBe(200);
  });
});

describe("listening", () => {
  it("returns the bound address", async () => {
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    expect(server.port).toBeGreaterThan(0);
  });

  it("warns if other machines can connect", async () => {
    const warnings = (own: TestServer) => own.log.filter(({ level }) => level === "warn").length;
    const exposed = await openTestServer({ host: "0.0.0.0" });
    await exposed.close();
    expect(warnings(exposed)).toBe(1);
    expect(warnings(server)).toBe(0);
  });

  it("rejects with EADDRINUSE if the port is taken", async () => {
    await expect(openTestServer({ port: server.port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  });

  it("can be closed after a failure", async () => {
    const second = createJsonRpcServer({ table: { find: () => undefined }, logger: createRecordingLogger([]) });
    await expect(second.listen({ host: "127.0.0.1", port: server.port })).rejects.toThrow();
    await second.close();
  });
});
