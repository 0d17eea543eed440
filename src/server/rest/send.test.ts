import { randomBytes } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createSignal } from "../../../test/support/server/http/http.ts";
import { LARGE, openTestServer, type TestServer } from "../../../test/support/server/rest/server.ts";
import { SharedStream } from "../../json/shared-stream.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openTestServer();
});
afterAll(() => server.close());

describe("responses", () => {
  it("may have only a status", async () => {
    const { status, headers, text } = await server.ask("/empty");
    expect({ status, text }).toEqual({ status: 206, text: "" });
    expect(headers).toMatchObject({ "content-length": "0", "eth-consensus-version": "deneb" });
    expect(headers["content-type"]).toBeUndefined();
  });

  it("may be streamed", async () => {
    expect((await server.ask("/stream")).text).toBe('{"data":[1,2]}');
  });

  it("have a Content-Length if the stream's length is known and they are not compressed", async () => {
    const chunk = new SharedArrayBuffer(24);
    const stream = () => SharedStream.of({ writer: "state", input: [{ kind: "bytes", chunks: [chunk, chunk] }] });
    const own = await openTestServer({
      handlers: {
        "GET /ssz": async () => ({ status: 200, content: { format: "ssz", parts: [stream(), Buffer.from("end")] } }),
      },
    });
    const { headers, bytes } = await own.ask("/ssz");
    expect([headers["content-length"], headers["transfer-encoding"], bytes.length]).toEqual(["51", undefined, 51]);
    expect((await own.ask("/ssz", { method: "HEAD" })).headers["content-length"]).toBe("51");
    const compressed = await own.ask("/ssz", { headers: { "Accept-Encoding": "gzip" } });
    expect(compressed.headers["content-length"]).toBeUndefined();
    expect(gunzipSync(compressed.bytes)).toHaveLength(51);
    await own.close();
  });

  it("end with the connection if their stream fails", async () => {
    await expect(server.ask("/broken-late")).rejects.toThrow();
  });

  it.each<Record<string, string>>([{ "Accept-Encoding": "identity" }, { "Accept-Encoding": "gzip" }])(
    "that are not read to the end are aborted without a failure, with %j",
    async (headers) => {
      const gone = createSignal();
      async function* endless() {
        try {
          for (;;) yield randomBytes(65_536);
        } finally {
          gone.trigger();
        }
      }
      const parts = [endless()];
      const own = await openTestServer({
        handlers: { "GET /endless": async () => ({ status: 200, content: { format: "json", parts } }) },
      });
      const leaving = new AbortController();
      await fetch(`${own.url}/endless`, { signal: leaving.signal, headers });
      leaving.abort();
      await gone.promise;
      await own.close();
      expect(own.log.filter(({ level }) => level === "error")).toEqual([]);
    },
  );

  it("to HEAD have only headers", async () => {
    expect(await server.ask("/large", { method: "HEAD" })).toMatchObject({
      status: 200,
      text: "",
      headers: { "content-length": String(LARGE.length + 2) },
    });
    expect(await server.ask("/stream", { method: "HEAD" })).toMatchObject({ status: 200, text: "" });
  });
});

describe("compression", () => {
  it.each(["gzip", "deflate, gzip;q=0.5", "*", "GZIP"])("is used with Accept-Encoding: %s", async (accepted) => {
    const { headers, bytes } = await server.ask("/large", { headers: { "Accept-Encoding": accepted } });
    expect(headers).toMatchObject({ "content-encoding": "gzip", "content-length": String(bytes.length) });
    expect(headers.vary).toContain("Accept-Encoding");
    expect(gunzipSync(bytes).toString()).toBe(JSON.stringify(LARGE));
  });

  it("is used for streams", async () => {
    const { headers, bytes } = await server.ask("/stream", { headers: { "Accept-Encoding": "gzip" } });
    expect(headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(bytes).toString()).toBe('{"data":[1,2]}');
  });

  it.each(["identity", "gzip;q=0", "br", "*;q=0", "gzip;q=0, *"])("is not used with %s", async (accepted) => {
    const { headers, text } = await server.ask("/large", { headers: { "Accept-Encoding": accepted } });
    expect(headers["content-encoding"]).toBeUndefined();
    expect(text).toHaveLength(LARGE.length + 2);
  });

  it("is not used for small bodies", async () => {
    const { headers } = await server.ask("/unchanged", { headers: { "Accept-Encoding": "gzip" } });
    expect(headers["content-encoding"]).toBeUndefined();
  });
});

describe("caching", () => {
  it("revalidates responses that can change", async () => {
    const { headers } = await server.ask("/unchanged");
    expect(headers["cache-control"]).toBe("no-cache");
    const tag = headers.etag as string;
    for (const known of [tag, `"other", ${tag}`, tag.replace("W/", ""), "*"]) {
      const again = await server.ask("/unchanged", { headers: { "If-None-Match": known } });
      expect(again).toMatchObject({ status: 304, text: "", headers: { etag: tag } });
    }
    expect((await server.ask("/unchanged", { headers: { "If-None-Match": '"other"' } })).status).toBe(200);
  });

  it("is permanent for immutable responses", async () => {
    const { headers } = await server.ask("/forever");
    expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(headers.etag).toMatch(/^W\/"/);
  });

  it("is private on a server with a token", async () => {
    const guarded = await openTestServer({ access: { token: "0123456789abcdef" } });
    onTestFinished(() => guarded.close());
    const headers = { Authorization: "Bearer 0123456789abcdef" };
    const cacheControl = async (path: string) => (await guarded.ask(path, { headers })).headers["cache-control"];
    expect(await cacheControl("/forever")).toBe("private, max-age=31536000, immutable");
    expect(await cacheControl("/stream-of/a")).toBe("private, max-age=31536000, immutable");
    expect(await cacheControl("/unchanged")).toBe("private, no-cache");
    expect(await cacheControl("/echo/n")).toBe("no-store");
  });

  it("uses the given ETag for a stream", async () => {
    const { headers, text } = await server.ask("/stream-of/a");
    expect(text).toBe('{"data":[1,2]}');
    const tag = headers.etag as string;
    for (const known of [tag, "*"]) {
      const again = await server.ask("/stream-of/a", { headers: { "If-None-Match": known } });
      expect(again).toMatchObject({ status: 304, text: "", headers: { etag: tag, vary: headers.vary } });
      expect(again.headers["cache-control"]).toContain("immutable");
      expect(again.headers["content-length"]).toBeUndefined();
    }
    expect((await server.ask("/stream-of/b", { headers: { "If-None-Match": tag } })).status).toBe(200);
  });

  it("excludes responses to POST", async () => {
    const reply = await server.ask("/unchanged", { method: "POST", headers: { "If-None-Match": "*" } });
    expect(reply).toMatchObject({ status: 200, text: '"same"', headers: { "cache-control": "no-store" } });
    expect(reply.headers.etag).toBeUndefined();
  });
});
