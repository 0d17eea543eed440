import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSignal, sendAfterContinue } from "../../../test/support/server/http/http.ts";
import { json, openTestServer, type TestServer } from "../../../test/support/server/rest/server.ts";
import { invalidParams } from "../../errors/failure.ts";
import { bodyFormatOf, queryOf } from "./request.ts";
import type { RestRoute } from "./route-table.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openTestServer({ limits: { bodyBytes: 1000, smallBodyBytes: 1000 } });
});
afterAll(() => server.close());

describe("requests", () => {
  it("reach their route with params, query and headers", async () => {
    const { status, text, headers } = await server.ask("/echo/a%2Fb?x=1&y=a,b", { headers: { Accept: "a/b" } });
    expect(status).toBe(200);
    expect(headers).toMatchObject({ "content-type": "application/json", "cache-control": "no-store" });
    expect(headers["content-length"]).toBe(String(text.length));
    expect(JSON.parse(text)).toEqual({ params: { name: "a/b" }, query: "x=1&y=a,b", accept: "a/b" });
  });

  it.each<Record<string, string>>([
    { "Content-Type": "application/json" },
    { "Content-Type": "application/octet-stream" },
    {},
  ])("keep their raw body with %j", async (headers) => {
    const { text } = await server.ask("/echo/n", { method: "POST", headers, body: "{not json" });
    expect(JSON.parse(text)).toEqual({ params: { name: "n" }, body: "{not json" });
  });

  it("may have no body", async () => {
    expect(JSON.parse((await server.ask("/echo/n", { method: "POST" })).text).body).toBeNull();
  });
});

describe("formats", () => {
  const SSZ = "application/octet-stream";
  const routes: RestRoute[] = [
    {
      method: "formats",
      verb: "GET",
      path: "/state",
      access: "read",
      responseFormats: ["json", "ssz"],
      accepts: [],
      handle: async ({ format }) => ({
        status: 200,
        content: { format: format!, parts: [Buffer.from(format!)] },
      }),
    },
    ...[false, true].map((bodyOptional): RestRoute => {
      const route: RestRoute = {
        method: "bodies",
        verb: "POST",
        path: bodyOptional ? "/filter" : "/submit",
        access: bodyOptional ? "read" : "submit",
        responseFormats: ["json"],
        accepts: ["json", "ssz"],
        bodyOptional,
        handle: async (request) => {
          if (queryOf(request) === "wrong") throw invalidParams("The query is wrong.");
          return json(bodyFormatOf(route, request));
        },
      };
      return route;
    }),
  ];
  let negotiating: TestServer;
  beforeAll(async () => {
    negotiating = await openTestServer({ routes });
  });
  afterAll(() => negotiating.close());

  it.each<[accept: string, type: string, text: string]>([
    ["*/*", "application/json", "json"],
    [SSZ, SSZ, "ssz"],
  ])("of a response are negotiated by Accept: %s", async (accept, type, text) => {
    const reply = await negotiating.ask("/state", { headers: { Accept: accept } });
    expect(reply).toMatchObject({ status: 200, text, headers: { "content-type": type } });
  });

  it.each<[path: string, headers: Record<string, string>, body: string, format: string]>([
    ["/submit", { "Content-Type": "application/json" }, "[]", "json"],
    ["/submit", { "Content-Type": SSZ }, "", "ssz"],
    ["/filter", { "Content-Type": SSZ }, "x", "ssz"],
    ["/filter", {}, "", "json"],
  ])("of a body are determined by Content-Type: %s %j", async (path, headers, body, format) => {
    const reply = await negotiating.ask(path, { method: "POST", headers, body });
    expect(JSON.parse(reply.text)).toBe(format);
  });

  it.each<[path: string, headers: Record<string, string>, body: string, status: number]>([
    ["/submit?wrong", { Accept: SSZ, "Content-Type": "text/plain" }, "x", 406],
    ["/submit?wrong", { "Content-Type": "text/plain" }, "x", 400],
    ["/submit", { "Content-Type": "text/plain" }, "x", 415],
    ["/submit", {}, "", 415],
    ["/filter", {}, "x", 415],
  ])("that are not supported are rejected in order: %s %j", async (path, headers, body, status) => {
    expect((await negotiating.ask(path, { method: "POST", headers, body })).status).toBe(status);
  });
});

describe("errors", () => {
  it.each<[path: string, method: string, status: number, message: string, kind?: string]>([
    ["/nowhere", "GET", 404, "Unknown path /nowhere.", "unsupported"],
    ["/invalid", "GET", 400, "It is wrong.", "invalid-params"],
    ["/refused", "GET", 406, "Not this."],
    ["/crash", "GET", 500, "Internal error"],
    ["/broken-early", "GET", 503, "The stream broke.", "unavailable"],
    ["/large", "DELETE", 405, "/large requires the HTTP method GET or HEAD."],
    ["/large?x", "TRACE", 405, "/large requires the HTTP method GET or HEAD."],
    ["/echo/n", "PROPFIND", 405, "/echo/{name} requires the HTTP method GET or HEAD or POST."],
    ["/echo/n", "QUERY", 405, "/echo/{name} requires the HTTP method GET or HEAD or POST."],
    ["/nowhere", "TRACE", 404, "Unknown path /nowhere.", "unsupported"],
    ["/echo/n/m", "GET", 404, "Unknown path /echo/n/m. Did you mean /echo/{name}?", "unsupported"],
    ["/echo/%zz", "GET", 400, "The path is not percent-encoded UTF-8.", "invalid-params"],
  ])("%s %s is %i", async (path, method, status, message, kind) => {
    const reply = await server.ask(path, { method });
    expect(reply.status).toBe(status);
    expect(reply.headers).toMatchObject({ "content-type": "application/json", "cache-control": "no-store" });
    expect(JSON.parse(reply.text)).toEqual({ code: status, message, kind });
  });

  it.each([
    ["/ecko/n", "/echo/{name}"],
    [`/ecko/0x${"ab".repeat(32)}`, "/echo/{name}"],
    ["/v1/forever", "/forever"],
    ["/", undefined],
    ["/stream-", undefined],
  ])("suggest the path most similar to %s", async (path, suggestion) => {
    const hint = suggestion === undefined ? "" : ` Did you mean ${suggestion}?`;
    const message = `Unknown path ${path}.${hint}`;
    expect(JSON.parse((await server.ask(path)).text)).toEqual({ code: 404, message, kind: "unsupported" });
  });

  it("name the JSON-RPC server for a call that was sent here", async () => {
    const own = await openTestServer({ endpoints: { "json-rpc": "http://127.0.0.1:9190" } });
    const { text } = await own.ask("/", { method: "POST", body: "{}" });
    await own.close();
    expect(JSON.parse(text).message).toBe("Unknown path /. JSON-RPC is at http://127.0.0.1:9190.");
  });

  it("list the failed items", async () => {
    expect(JSON.parse((await server.ask("/rejected")).text)).toEqual({
      code: 400,
      message: "Rejected.",
      kind: "rejected",
      failures: [{ index: 1, message: "No." }],
    });
  });

  it("for an unsupported verb list the allowed ones", async () => {
    for (const method of ["POST", "TRACE", "LOCK"]) {
      expect((await server.ask("/large", { method })).headers.allow).toBe("GET, HEAD, OPTIONS");
    }
    expect(await server.ask("/echo/n", { method: "OPTIONS" })).toMatchObject({
      status: 204,
      headers: { allow: "GET, HEAD, POST, OPTIONS" },
    });
  });

  it("in the headers are sent before 100 Continue", async () => {
    const headers = { "Content-Type": "application/json", Expect: "100-continue" };
    const ask = (path: string, more = {}) =>
      sendAfterContinue(`${server.url}${path}`, "POST", { ...headers, ...more }, "{}");
    expect(await ask("/echo/n")).toMatchObject({ status: 200, wasTold: true });
    expect(await ask("/echo/n", { "Content-Length": "1001" })).toMatchObject({ status: 413, wasTold: false });
    expect(await ask("/large")).toMatchObject({ status: 405, wasTold: false });
    expect(await ask("/nothing")).toMatchObject({ status: 404, wasTold: false });
  });

  it("for a large body are sent before the route is called", async () => {
    const reply = await server.ask("/echo/n", { method: "POST", body: "x".repeat(1001) });
    expect(reply.status).toBe(413);
    expect(JSON.parse(reply.text)).toEqual({ code: 413, message: "The request body is larger than 1000 bytes." });
  });

  it.each(["gzip", "deflate", "br", "identity, GZIP", "nonsense"])(
    "of bodies in %s name the header to remove",
    async (encoding) => {
      const headers = { "Content-Encoding": encoding, "Content-Type": "application/json" };
      const reply = await server.ask("/echo/n", { method: "POST", headers, body: gzipSync("[]") });
      expect(reply).toMatchObject({ status: 415, headers: { "accept-encoding": "identity" } });
      expect(JSON.parse(reply.text)).toEqual({
        code: 415,
        message: "Compressed request bodies are not supported. Remove the Content-Encoding header.",
      });
    },
  );

  it("are not sent for Content-Encoding: identity", async () => {
    const headers = { "Content-Encoding": "Identity" };
    expect((await server.ask("/echo/n", { method: "POST", headers, body: "[]" })).status).toBe(200);
  });

  const LARGE_HEAD = "The URL or the headers are too large.";
  const TOO_LONG = "The URL is longer than 16384 characters. Use the POST variant of the route";
  it.each([
    [`/echo/n?id=${"x".repeat(17_000)}`, 414, TOO_LONG],
    [`/echo/${"x".repeat(17_000)}`, 414, TOO_LONG],
    [`/echo/${"x".repeat(60_000)}?id=1`, 414, TOO_LONG],
    [`/nowhere?id=${"x".repeat(17_000)}`, 414, TOO_LONG],
    [`/${"x".repeat(101)}`, 404, `Unknown path /${"x".repeat(99)}…`],
  ])("report URLs that are too long (%#)", async (path, status, message) => {
    const reply = await server.ask(path);
    expect(reply.status).toBe(status);
    expect(JSON.parse(reply.text)).toMatchObject({ code: status, message: expect.stringContaining(message) });
    expect((await server.ask(`/echo/${"x".repeat(16_000)}`)).status).toBe(200);
  });

  it.each([
    ["nonsense\r\n\r\n", "400 Bad Request", "The request is not valid HTTP."],
    [
      `GET /empty HTTP/1.1\r\nHost: x\r\nConnection: close\r\nA: ${"x".repeat(20_000)}\r\n\r\n`,
      "431 ",
      "The headers are larger than 16384 bytes.",
    ],
    // Headers without an end are not buffered indefinitely.
    [`GET /${"x".repeat(70_000)} HTTP/1.1`, "414 ", "The URL is too long."],
    [`GET /${"x".repeat(10_000)} HTTP/1.1\r\nA: ${"x".repeat(70_000)}`, "431 ", LARGE_HEAD],
    [`GET / HTTP/1.1\r\nA: ${"x".repeat(70_000)}`, "431 ", LARGE_HEAD],
  ])("for malformed HTTP have the same format (%#)", async (sent, status, message) => {
    const socket = connect(server.port, "127.0.0.1");
    socket.write(sent);
    const text = Buffer.concat(await Array.fromAsync(socket)).toString();
    expect(text.startsWith(`HTTP/1.1 ${status}`)).toBe(true);
    expect(JSON.parse(text.split("\r\n\r\n")[1]!).message).toBe(message);
  });

  it("with unexpected causes are detailed only in the log", async () => {
    const before = server.log.length;
    await server.ask("/crash");
    expect(server.log.slice(before)).toMatchObject([{ level: "error", fields: { url: "/crash" } }]);
  });
});

describe("pages of other origins", () => {
  const origin = "http://localhost:3000";
  const headers = { Origin: origin };

  it("get no CORS headers and are rejected", async () => {
    const read = await server.ask("/empty", { headers });
    expect(read.status).toBe(403);
    expect(read.headers["access-control-allow-origin"]).toBeUndefined();
    expect((await server.ask("/echo/n", { method: "POST", headers })).status).toBe(403);
  });

  it("can call the server if they are allowed", async () => {
    const open = await openTestServer({ access: { allowedOrigins: [origin] } });
    try {
      const read = await open.ask("/empty", { headers });
      expect(read.headers["access-control-allow-origin"]).toBe(origin);
      expect(read.headers["access-control-expose-headers"]).toContain("Eth-Consensus-Version");
      expect((await open.ask("/echo/n", { method: "POST", headers })).status).toBe(200);
      expect((await open.ask("/echo/n", { method: "POST", headers: { Origin: "http://evil" } })).status).toBe(403);
      const preflight = await open.ask("/echo/n", {
        method: "OPTIONS",
        headers: { ...headers, "Access-Control-Request-Headers": "content-type" },
      });
      expect(preflight).toMatchObject({
        status: 204,
        headers: { "access-control-allow-methods": "GET, HEAD, POST", "access-control-allow-headers": "content-type" },
      });
    } finally {
      await open.close();
    }
  });

  it("are all allowed by *", async () => {
    const open = await openTestServer({ access: { allowedOrigins: ["*"] } });
    try {
      expect((await open.ask("/empty", { headers })).headers["access-control-allow-origin"]).toBe("*");
    } finally {
      await open.close();
    }
  });
});

describe("limits and shutdown", () => {
  it("aborts calls after the time limit", async () => {
    const impatient = await openTestServer({
      limits: { requestMillis: 20 },
      handlers: { "GET /submission": () => new Promise(() => {}) },
      classes: { "GET /submission": "submit" },
    });
    try {
      const { status, text } = await impatient.ask("/never");
      expect(status).toBe(500);
      const message = "The call exceeded its time limit of 20 ms.";
      expect(JSON.parse(text)).toEqual({ code: 500, kind: "server", message });
      const submission = await impatient.ask("/submission");
      expect(JSON.parse(submission.text)).toMatchObject({ message, detail: "It may still take effect." });
    } finally {
      await impatient.close();
    }
  });

  it("waits for running calls before it closes", async () => {
    const begun = createSignal();
    const go = createSignal();
    const closing = await openTestServer({
      handlers: {
        "GET /slow": async () => {
          begun.trigger();
          await go.promise;
          return json("done");
        },
      },
    });
    const reply = closing.ask("/slow");
    await begun.promise;
    const closed = closing.close();
    go.trigger();
    expect((await reply).text).toBe('"done"');
    await closed;
    await expect(closing.ask("/empty")).rejects.toThrow(/ECONNREFUSED/);
  });

  it("rejects with EADDRINUSE if the port is taken", async () => {
    await expect(openTestServer({ port: server.port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  });

  it("ends event streams when it closes", async () => {
    let readers = 0;
    const begun = createSignal();
    const streaming = await openTestServer({
      handlers: {
        "GET /events": async () => ({
          status: 200,
          feed: {
            topics: ["head"],
            open: (reader) => {
              readers++;
              reader.deliver({ topic: "head", data: Buffer.from("{}") });
              begun.trigger();
              return () => readers--;
            },
          },
        }),
      },
    });
    const reply = streaming.ask("/events");
    await begun.promise;
    await streaming.close();
    expect(await reply).toMatchObject({ status: 200, text: "event: head\ndata: {}\n\n" });
    expect(readers).toBe(0);
  });
});
