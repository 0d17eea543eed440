import { request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { openTestServer as openJsonRpc, json as rpcJson } from "../../test/support/server/jsonrpc/server.ts";
import { Client } from "../../test/support/server/jsonrpc/websocket/client.ts";
import { json, openTestServer as openRest } from "../../test/support/server/rest/server.ts";
import type { AccessOptions } from "./http/access/access-policy.ts";
import type { RestRoute } from "./rest/route-table.ts";

interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** Sends a request with side effects and the given headers over one protocol. */
type Endpoint = (headers: Record<string, string>) => Promise<Reply>;

const CLASSES = { debugged: "debug", administered: "admin" } as const;

/** Opens a server for each protocol, all with the same access options. */
async function open(access?: AccessOptions) {
  const handlers = { debugged: async () => rpcJson(1), administered: async () => rpcJson(2) };
  const rpc = await openJsonRpc({ access, handlers, classes: CLASSES });
  onTestFinished(() => rpc.close());
  const rest = await openRest({
    access,
    handlers: { "GET /debugged": async () => json(1), "POST /administered": async () => json(2) },
    classes: { "GET /debugged": "debug", "POST /administered": "admin" },
  });
  onTestFinished(() => rest.close());
  const body = '{"jsonrpc":"2.0","id":1,"method":"echo"}';
  const endpoints: Record<string, Endpoint> = {
    "JSON-RPC": (headers) => rpc.post(body, { headers: { "Content-Type": "application/json", ...headers } }),
    WebSocket: (headers) => upgrade(rpc.url, headers),
    REST: (headers) => rest.ask("/echo/n", { method: "POST", headers }),
    "REST by GET": (headers) => rest.ask("/echo/n", { headers }),
  };
  return { rpc, rest, endpoints };
}

function upgrade(url: string, headers: Record<string, string>): Promise<Reply> {
  const handshake = {
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": Buffer.alloc(16).toString("base64"),
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { headers: { ...handshake, ...headers }, agent: false });
    outgoing.on("upgrade", ({ statusCode = 0, headers }, socket) => {
      socket.destroy();
      resolve({ status: statusCode, headers, text: "" });
    });
    outgoing.on("response", async (response) =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text: await text(response) }),
    );
    outgoing.on("error", reject);
    outgoing.end();
  });
}

/** Sends raw request lines and returns the raw response. */
function sendRaw(port: number, ...lines: string[]): Promise<string> {
  return text(connect(port, "127.0.0.1").end([...lines, "Connection: close", "", ""].join("\r\n")));
}

const isAccepted = ({ status }: Reply) => status === 200 || status === 101;

/** Expects all endpoints to accept a request with these headers. */
async function expectAccepted(endpoints: Record<string, Endpoint>, headers: Record<string, string>): Promise<void> {
  for (const [name, endpoint] of Object.entries(endpoints)) {
    const reply = await endpoint(headers);
    expect(isAccepted(reply), `${name} ${JSON.stringify(headers)}: ${reply.status} ${reply.text}`).toBe(true);
  }
}

async function expectRejected(
  endpoints: Record<string, Endpoint>,
  headers: Record<string, string>,
  status: number,
  words: RegExp,
): Promise<void> {
  for (const [name, endpoint] of Object.entries(endpoints)) {
    const reply = await endpoint(headers);
    expect(reply.status, `${name} ${JSON.stringify(headers)}`).toBe(status);
    const flag = name.startsWith("REST") ? "--rest-" : "--rpc-";
    expect(JSON.parse(reply.text)).toEqual({ code: status, message: expect.stringMatching(words) });
    expect(reply.text).toContain(flag);
  }
}

describe("the Host header", () => {
  it("must be an accepted name, against DNS rebinding", async () => {
    const { endpoints } = await open();
    for (const host of ["evil.example", "evil.example:9190", "127.0.0.1.evil.example", "localhost.evil.example", "x"]) {
      await expectRejected(
        endpoints,
        { Host: host },
        403,
        /Host "[a-z0-9.]+" is not allowed\. Add it with --r\w+-vhosts/,
      );
      await expectRejected(endpoints, { Host: host, Origin: `http://${host}` }, 403, /-vhosts/);
    }
  });

  it("may be a loopback name, any address or a configured name", async () => {
    const { endpoints } = await open({ virtualHosts: ["node.example"] });
    const addresses = ["127.0.0.1:9190", "127.8.8.8", "[::1]:9190", "192.0.2.1:80", "[2001:db8::1]"];
    for (const host of ["localhost", "LocalHost:9190", "a.localhost", ...addresses, "Node.Example:443"]) {
      await expectAccepted(endpoints, { Host: host });
    }
    await expectRejected(endpoints, { Host: "other.example" }, 403, /-vhosts/);
    await expectAccepted((await open({ virtualHosts: ["*"] })).endpoints, { Host: "other.example" });
  });

  it("is optional in HTTP/1.0", async () => {
    const { rest } = await open();
    expect(await sendRaw(rest.port, "GET /echo/n HTTP/1.0")).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("must be unambiguous", async () => {
    const { rpc, rest } = await open({ virtualHosts: ["*"] });
    const ambiguous: [about: string, line: string, ...headers: string[]][] = [
      ["more than one Host header", "GET /echo/n HTTP/1.1", "Host: localhost", "Host: evil.example"],
      ["more than one Host header", "GET /echo/n HTTP/1.1", "Host: localhost", "HOST: localhost"],
      ["missing or invalid", "GET /echo/n HTTP/1.1", "Host:"],
      ["missing or invalid", "GET /echo/n HTTP/1.1", "Host: :9190"],
      ["missing or invalid", "GET /echo/n HTTP/1.1", "Host: [::1"],
      ["missing or invalid", "GET /echo/n HTTP/1.1", "Host: [evil.example]"],
      ["missing or invalid", "GET /echo/n HTTP/1.1", "Host: 127.0.0.1:evil.example"],
      ["missing or invalid", "GET /echo/n HTTP/1.1", "Host: evil.example/.localhost"],
      ["missing or invalid", "GET /echo/n HTTP/1.1", "Host: evil.example@localhost"],
      ["different hosts", "GET http://evil.example/echo/n HTTP/1.1", "Host: localhost"],
      ["different hosts", "GET http://localhost:1/echo/n HTTP/1.1", "Host: localhost"],
      ["missing", "GET http://evil.example/echo/n HTTP/1.0"],
    ];
    for (const [about, line, ...headers] of ambiguous) {
      for (const { port } of [rpc, rest]) {
        const reply = await sendRaw(port, line, ...headers);
        expect(reply, `${line} ${headers}`).toMatch(/^HTTP\/1\.1 400 /);
        expect(reply).toContain(about);
      }
    }
    expect(await sendRaw(rest.port, "GET http://localhost/echo/n HTTP/1.1", "Host: localhost")).not.toContain("hosts");
    expect(await sendRaw(rest.port, "GET /echo/n HTTP/1.1", "Host: ::1")).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe("web pages", () => {
  it("of other origins are rejected for every request", async () => {
    const { endpoints } = await open();
    for (const origin of ["http://evil.example", "https://127.0.0.1.evil.example", "null", "http://127.0.0.1:1"]) {
      await expectRejected(
        endpoints,
        { Origin: origin },
        403,
        /Origin ".+" is not allowed\. Add it with --r\w+-allow-origin/,
      );
    }
  });

  it("of the server's own and of allowed origins are served", async () => {
    const { endpoints } = await open({ allowedOrigins: ["http://wallet.example"] });
    await expectAccepted(endpoints, { Host: "localhost:9190", Origin: "http://localhost:9190" });
    await expectAccepted(endpoints, { Host: "localhost:443", Origin: "https://localhost" });
    await expectAccepted(endpoints, { Origin: "http://wallet.example" });
    await expectRejected(endpoints, { Host: "evil.example", Origin: "http://wallet.example" }, 403, /-vhosts/);
    await expectRejected(endpoints, { Origin: "http://wallet.example.evil" }, 403, /-allow-origin/);
    await expectAccepted((await open({ allowedOrigins: ["*"] })).endpoints, { Origin: "http://any.example" });
  });

  it("of allowed origins get CORS headers from both protocols, on errors too", async () => {
    const origin = "http://wallet.example";
    const { rpc, rest, endpoints } = await open({ allowedOrigins: [origin], token: "a token of many letters" });
    for (const name of ["JSON-RPC", "REST"]) {
      const { status, headers } = await endpoints[name]!({ Origin: origin });
      expect(status).toBe(401);
      expect(headers).toMatchObject({
        "access-control-allow-origin": origin,
        "access-control-expose-headers": expect.stringContaining("Eth-Consensus-Version"),
        vary: expect.stringContaining("Origin"),
      });
    }
    const preflight = {
      method: "OPTIONS",
      headers: {
        Origin: origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
      },
    };
    for (const reply of [await rpc.post("", preflight), await rest.ask("/echo/n", preflight)]) {
      expect(reply).toMatchObject({
        status: 204,
        headers: {
          "access-control-allow-origin": origin,
          "access-control-allow-methods": expect.stringContaining("POST"),
          "access-control-allow-headers": "authorization,content-type",
        },
      });
    }
    const foreign = { ...preflight, headers: { ...preflight.headers, Origin: "http://evil.example" } };
    for (const reply of [await rpc.post("", foreign), await rest.ask("/echo/n", foreign)]) {
      expect(reply.status).toBe(403);
      expect(reply.headers).not.toHaveProperty("access-control-allow-origin");
    }
  });
});

describe("a token", () => {
  const token = "0123456789abcdef";

  it("is required from every caller if configured", async () => {
    const { endpoints } = await open({ token });
    await expectAccepted(endpoints, { Authorization: `Bearer ${token}` });
    await expectAccepted(endpoints, { Authorization: `bearer  ${token}` });
    await expectRejected(endpoints, {}, 401, /Authorization header is missing: send the token of --r\w+-token-file/);
    for (const wrong of [`Bearer ${token}0`, "Bearer", token, `Basic ${token}`, `Bearer ${token} x`]) {
      await expectRejected(endpoints, { Authorization: wrong }, 401, /does not contain it/);
    }
    for (const endpoint of Object.values(endpoints))
      expect((await endpoint({})).headers["www-authenticate"]).toBe("Bearer");
  });

  it("is not required for a health probe, which then returns only its status", async () => {
    const probe: RestRoute = {
      method: "ready",
      verb: "GET",
      path: "/ready",
      access: "read",
      isProbe: true,
      responseFormats: ["json"],
      accepts: [],
      handle: async () => ({ ...json("a secret"), status: 503 }),
    };
    const rest = await openRest({ access: { token }, routes: [probe] });
    onTestFinished(() => rest.close());
    for (const headers of [{}, { Authorization: "Bearer wrong" }] as Record<string, string>[]) {
      expect(await rest.ask("/ready", { headers })).toMatchObject({ status: 503, text: "" });
      expect((await rest.ask("/echo/n", { headers })).status).toBe(401);
    }
    expect(await rest.ask("/ready", { headers: { Authorization: `Bearer ${token}` } })).toMatchObject({
      status: 503,
      text: '"a secret"',
    });
    expect((await rest.ask("/ready", { headers: { Host: "evil.example" } })).status).toBe(403);
    expect((await rest.ask("/ready", { method: "POST" })).status).toBe(401);
  });

  it("must be sent in a single header", async () => {
    const { rpc, rest } = await open({ token });
    const own = `Authorization: Bearer ${token}`;
    for (const { port } of [rpc, rest]) {
      for (const headers of [
        [own, "Authorization: Bearer other"],
        ["authorization: Basic x", own],
      ]) {
        const reply = await sendRaw(port, "GET /echo/n HTTP/1.1", "Host: localhost", ...headers);
        expect(reply).toMatch(/^HTTP\/1\.1 400 /);
        expect(reply).toContain("more than one Authorization header");
      }
    }
  });
});

describe("access classes", () => {
  const addedByProxies = {
    Forwarded: "for=192.0.2.1",
    Via: "1.1 proxy",
    "X-Forwarded-For": "192.0.2.1",
    "X-Forwarded-Host": "node.example",
    "X-Forwarded-Port": "443",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Server": "proxy",
    "X-Real-IP": "192.0.2.1",
    "X-Client-IP": "192.0.2.1",
    "CF-Connecting-IP": "192.0.2.1",
    "True-Client-IP": "192.0.2.1",
  };

  const call = (method: string) => `{"jsonrpc":"2.0","id":1,"method":"${method}"}`;

  /** Returns true or the error message, for each of JSON-RPC, WebSocket and REST. */
  async function answered(
    { rpc, rest }: Awaited<ReturnType<typeof open>>,
    method: "debugged" | "administered",
    headers: Record<string, string> = {},
  ): Promise<(true | string)[]> {
    const posted = await rpc.post(call(method), { headers: { "Content-Type": "application/json", ...headers } });
    const socket = await Client.connect(rpc.url, { headers });
    const restAnswer = await rest.ask(`/${method}`, { method: method === "debugged" ? "GET" : "POST", headers });
    const ofResponse = ({ result, error }: { result?: unknown; error?: { code: number; message: string } }) => {
      if (error === undefined) return result !== undefined;
      expect(error).toMatchObject({ code: -32004, data: { status: 403 } });
      return error.message;
    };
    const answers = [ofResponse(JSON.parse(posted.text)), ofResponse(await socket.call(method))];
    return [
      ...answers,
      restAnswer.status === 403 ? JSON.parse(restAnswer.text).message : restAnswer.status === 200,
    ] as (true | string)[];
  }

  it("are all served to local callers", async () => {
    const servers = await open();
    expect(await answered(servers, "debugged")).toEqual([true, true, true]);
    expect(await answered(servers, "administered")).toEqual([true, true, true]);
  });

  it("are limited to the configured ones", async () => {
    const servers = await open({ classes: ["read", "admin"] });
    const [posted, overWebSocket, overRest] = await answered(servers, "debugged");
    expect(posted).toBe('Access class "debug" is not served, only read, admin. Enable it with --rpc-api.');
    expect(overWebSocket).toBe(posted);
    expect(overRest).toMatch(/"debug" is not served.*--rest-api/);
    expect(await servers.rest.ask("/debugged", { method: "HEAD" })).toMatchObject({ status: 403 });
    expect(await answered(servers, "administered")).toEqual([true, true, true]);
    await expectAccepted({ "JSON-RPC": servers.endpoints["JSON-RPC"]! }, {});
  });

  it("with privileges are denied to unlisted pages and to proxies", async () => {
    const listed = { Origin: "http://wallet.example" };
    const refused = Array(3).fill(expect.stringMatching(/"admin" is served only to local callers.*-token-file/));
    const servers = await open({ allowedOrigins: ["http://wallet.example", "*"] });
    expect(await answered(servers, "administered", listed)).toEqual([true, true, true]);
    expect(await answered(servers, "administered", { Origin: "http://any.example" })).toEqual(refused);
    for (const [name, value] of Object.entries(addedByProxies)) {
      expect(await answered(servers, "administered", { [name]: value }), name).toEqual(refused);
    }
    expect(await answered(servers, "debugged", { "X-Forwarded-For": "192.0.2.1" })).toEqual([true, true, true]);
  });

  it("with privileges are served to callers with the token", async () => {
    const servers = await open({ token: "0123456789abcdef" });
    const headers = { Authorization: "Bearer 0123456789abcdef", "X-Forwarded-For": "192.0.2.1" };
    expect(await answered(servers, "administered", headers)).toEqual([true, true, true]);
  });

  it("are checked for each call of a batch", async () => {
    const { rpc } = await open({ classes: ["read"] });
    const { text } = await rpc.post(`[${call("echo")},${call("debugged")},${call("echo")}]`);
    expect(JSON.parse(text)).toEqual([
      expect.objectContaining({ result: [] }),
      expect.objectContaining({ error: expect.objectContaining({ code: -32004 }) }),
      expect.objectContaining({ result: [] }),
    ]);
  });
});
