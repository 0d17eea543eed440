import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { tempDirectory } from "../../../test/support/directories/temp-directory.ts";
import { openTestServer, requestText, type TestServerOptions } from "../../../test/support/server/jsonrpc/server.ts";

const HTML = '<!doctype html><script type="importmap">{"imports":{}}</script><p>A chain</p>';
const TYPESCRIPT = `import { a } from "./a.ts";\ninterface Gone { a: string }\nexport const b: number = ${"a + ".repeat(1000)}1;\n`;

async function open(options: TestServerOptions = {}) {
  const folder = tempDirectory();
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const pages = {
    "/": file("index.html", HTML),
    "/web/b.js": file("b.ts", TYPESCRIPT),
    "/gone.css": join(folder, "gone"),
  };
  const server = await openTestServer({ pages, ...options });
  onTestFinished(server.close);
  return server;
}

it("serves a page with a strict content security policy", async () => {
  const { url, log } = await open();
  const response = await fetch(`${url}/?from=somewhere`);
  expect(await response.text()).toBe(HTML);
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  const policy = response.headers.get("content-security-policy")!;
  // The SHA-256 hash of {"imports":{}}, computed with openssl.
  expect(policy).toContain("script-src 'self' 'sha256-URrTy+Il/Nz0lHojVUx275hWqAWhkSF0VsHbUM4/6Hw='");
  expect(policy).toMatch(/^default-src 'none';.*frame-ancestors 'none'$/);
  const tag = response.headers.get("etag")!;
  expect((await fetch(url, { headers: { "If-None-Match": tag } })).status).toBe(304);
  expect(await (await fetch(url, { method: "HEAD" })).text()).toBe("");
  expect(log).toEqual([]);
});

it("lists GET and HEAD in Allow at the path of a page", async () => {
  const { url } = await open();
  const allowed = async (method: string, path = "/", headers = {}) =>
    (await fetch(url + path, { method, headers })).headers.get("allow");
  expect(await allowed("OPTIONS")).toBe("GET, HEAD, OPTIONS, POST");
  expect(await allowed("PUT")).toBe("GET, HEAD, OPTIONS, POST");
  expect(await allowed("GET", "/", { Accept: "application/json" })).toBe("OPTIONS, POST");
  expect(await allowed("OPTIONS", "/elsewhere")).toBe("OPTIONS, POST");
});

it("serves the page only to clients that accept HTML", async () => {
  const { url } = await open();
  const statusFor = async (Accept: string) => (await fetch(url, { headers: { Accept } })).status;
  expect(await statusFor("text/html,application/xhtml+xml;q=0.9,*/*;q=0.8")).toBe(200);
  expect(await statusFor("text/*")).toBe(200);
  expect(await statusFor("application/json")).toBe(405);
});

it("serves TypeScript files as JavaScript", async () => {
  const response = await fetch(`${(await open()).url}/web/b.js`);
  expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(response.headers.get("content-encoding")).toBe("gzip");
  const text = await response.text();
  expect(text).toMatch(/^import { a } from "\.\/a\.js";\nexport const b\s+= a \+ /);
  expect(text).not.toContain("Gone");
});

it("handles other requests as JSON-RPC", async () => {
  const { url, post, log } = await open();
  expect((await fetch(`${url}/elsewhere`)).status).toBe(405);
  expect((await fetch(`${url}/toString`)).status).toBe(405);
  expect((await fetch(`${url}/../b.ts`)).status).toBe(405);
  expect((await post(requestText({ params: "[7]" }))).text).toContain("7");
  const missing = await fetch(`${url}/gone.css`);
  expect(missing.status).toBe(500);
  expect(await missing.json()).toEqual({ code: 500, message: "Internal error" });
  expect(log.map(({ level }) => level)).toEqual(["error"]);
});

it("serves pages without a token, but checks the Host header", async () => {
  const { url, port } = await open({ access: { token: "secret" } });
  expect((await fetch(url)).status).toBe(200);
  expect((await fetch(url, { method: "POST" })).status).toBe(401);
  const status = await new Promise((resolve, reject) => {
    request({ port, host: "127.0.0.1", headers: { Host: "evil.example" } }, (response) =>
      resolve(response.resume().statusCode),
    )
      .on("error", reject)
      .end();
  });
  expect(status).toBe(403);
});

it("allows privileged calls from its own page only", async () => {
  const { url, port, post } = await open({ classes: { echo: "admin" } });
  const call = async (origin: string) =>
    (await post(requestText({}), { headers: { "Content-Type": "application/json", Origin: origin } })).text;
  expect(await call(url)).toContain('"result"');
  expect(await call(`http://127.0.0.1:${port === 65535 ? 1 : port + 1}`)).toContain("is not allowed");
});
