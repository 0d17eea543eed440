import { request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import type { AccessOptions } from "./http/access-policy.ts";
import { openTestServer as openJsonRpc, json as rpcJson } from "./jsonrpc/server.test-support.ts";
import { Client } from "./jsonrpc/websocket/client.test-support.ts";
import type { RestRoute } from "./rest/route-table.ts";
import { json, openTestServer as openRest } from "./rest/server.test-support.ts";

interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** A way into the node: makes a request that changes something with these headers. */
type Door = (headers: Record<string, string>) => Promise<Reply>;

const CLASSES = { debugged: "debug", administered: "admin" } as const;

/** Servers with the same options for both protocols, and the ways to come in by. */
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
  const doors: Record<string, Door> = {
    "JSON-RPC": (headers) => rpc.post(body, { headers: { "Content-Type": "application/json", ...headers } }),
    WebSocket: (headers) => shakeHands(rpc.url, headers),
    REST: (headers) => rest.ask("/echo/n", { method: "POST", headers }),
    "REST by GET": (headers) => rest.ask("/echo/n", { headers }),
  };
  return { rpc, rest, doors };
}

function shakeHands(url: string, headers: Record<string, string>): Promise<Reply> {
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

/** Sends a request as it is written, and returns the whole reply. */
function sendRaw(port: number, ...lines: string[]): Promise<string> {
  return text(connect(port, "127.0.0.1").end([...lines, "Connection: close", "", ""].join("\r\n")));
}

const isIn = ({ status }: Reply) => status === 200 || status === 101;

/** Who comes in, by name; whoever does not is refused with the status and a message with the words. */
async function expectIn(doors: Record<string, Door>, headers: Record<string, string>): Promise<void> {
  for (const [name, door] of Object.entries(doors)) {
    const reply = await door(headers);
    expect(isIn(reply), `${name} ${JSON.stringify(headers)}: ${reply.status} ${reply.text}`).toBe(true);
  }
}

async function expectOut(
  doors: Record<string, Door>,
  headers: Record<string, string>,
  status: number,
  words: RegExp,
): Promise<void> {
  for (const [name, door] of Object.entries(doors)) {
    const reply = await door(headers);
    expect(reply.status, `${name} ${JSON.stringify(headers)}`).toBe(status);
    const flag = name.startsWith("REST") ? "--rest-" : "--rpc-";
    expect(JSON.parse(reply.text)).toEqual({ code: status, message: expect.stringMatching(words) });
    expect(reply.text).toContain(flag);
  }
}

describe("the name that a server is called by", () => {
  it("must be one of its own, so that no page can have its own name lead here", async () => {
    const { doors } = await open();
    for (const host of ["evil.example", "evil.example:9190", "127.0.0.1.evil.example", "localhost.evil.example", "x"]) {
      await expectOut(doors, { Host: host }, 403, /not called "[a-z0-9.]+"; --r\w+-vhosts/);
      await expectOut(doors, { Host: host, Origin: `http://${host}` }, 403, /-vhosts/);
    }
  });

  it("may be one of this machine, any address, or one that is given", async () => {
    const { doors } = await open({ virtualHosts: ["node.example"] });
    const addresses = ["127.0.0.1:9190", "127.8.8.8", "[::1]:9190", "192.0.2.1:80", "[2001:db8::1]"];
    for (const host of ["localhost", "LocalHost:9190", "a.localhost", ...addresses, "Node.Example:443"]) {
      await expectIn(doors, { Host: host });
    }
    await expectOut(doors, { Host: "other.example" }, 403, /-vhosts/);
    await expectIn((await open({ virtualHosts: ["*"] })).doors, { Host: "other.example" });
  });

  it("is not asked of HTTP/1.0, which has none", async () => {
    const { rest } = await open();
    expect(await sendRaw(rest.port, "GET /echo/n HTTP/1.0")).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("is one and the same to every server that a request passes through", async () => {
    const { rpc, rest } = await open({ virtualHosts: ["*"] });
    const ambiguous: [about: string, line: string, ...headers: string[]][] = [
      ["more than one Host header", "GET /echo/n HTTP/1.1", "Host: localhost", "Host: evil.example"],
      ["more than one Host header", "GET /echo/n HTTP/1.1", "Host: localhost", "HOST: localhost"],
      ["names no host", "GET /echo/n HTTP/1.1", "Host:"],
      ["names no host", "GET /echo/n HTTP/1.1", "Host: :9190"],
      ["names no host", "GET /echo/n HTTP/1.1", "Host: [::1"],
      ["names no host", "GET /echo/n HTTP/1.1", "Host: [evil.example]"],
      ["names no host", "GET /echo/n HTTP/1.1", "Host: 127.0.0.1:evil.example"],
      ["names no host", "GET /echo/n HTTP/1.1", "Host: evil.example/.localhost"],
      ["names no host", "GET /echo/n HTTP/1.1", "Host: evil.example@localhost"],
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

describe("pages", () => {
  it("of other origins are refused, whatever the request", async () => {
    const { doors } = await open();
    for (const origin of ["http://evil.example", "https://127.0.0.1.evil.example", "null", "http://127.0.0.1:1"]) {
      await expectOut(
        doors,
        { Origin: origin },
        403,
        /Pages of ".+" may not use this server unless --r\w+-allow-origin/,
      );
    }
  });

  it("of the server's own origin, and of those that are allowed, are served", async () => {
    const { doors } = await open({ allowedOrigins: ["http://wallet.example"] });
    await expectIn(doors, { Host: "localhost:9190", Origin: "http://localhost:9190" });
    await expectIn(doors, { Host: "localhost:443", Origin: "https://localhost" });
    await expectIn(doors, { Origin: "http://wallet.example" });
    await expectOut(doors, { Host: "evil.example", Origin: "http://wallet.example" }, 403, /-vhosts/);
    await expectOut(doors, { Origin: "http://wallet.example.evil" }, 403, /-allow-origin/);
    await expectIn((await open({ allowedOrigins: ["*"] })).doors, { Origin: "http://any.example" });
  });

  it("that are allowed are told so by both protocols, refusals included", async () => {
    const origin = "http://wallet.example";
    const { rpc, rest, doors } = await open({ allowedOrigins: [origin], token: "a token of many letters" });
    for (const name of ["JSON-RPC", "REST"]) {
      const { status, headers } = await doors[name]!({ Origin: origin });
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

  it("is wanted of everybody when there is one", async () => {
    const { doors } = await open({ token });
    await expectIn(doors, { Authorization: `Bearer ${token}` });
    await expectIn(doors, { Authorization: `bearer  ${token}` });
    await expectOut(doors, {}, 401, /token of --r\w+-token-file .* is missing/);
    for (const wrong of [`Bearer ${token}0`, "Bearer", token, `Basic ${token}`, `Bearer ${token} x`]) {
      await expectOut(doors, { Authorization: wrong }, 401, /does not hold it/);
    }
    for (const door of Object.values(doors)) expect((await door({})).headers["www-authenticate"]).toBe("Bearer");
  });

  it("is not needed for a health probe, which then tells no more than its status", async () => {
    const probe: RestRoute = {
      method: "ready",
      verb: "GET",
      path: "/ready",
      access: "read",
      isProbe: true,
      answers: ["json"],
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

  it("is sent in one header", async () => {
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

describe("classes of methods", () => {
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

  /** Whether each class is answered, by JSON-RPC, WebSocket and REST. */
  async function answered(
    { rpc, rest }: Awaited<ReturnType<typeof open>>,
    method: "debugged" | "administered",
    headers: Record<string, string> = {},
  ): Promise<(true | string)[]> {
    const posted = await rpc.post(call(method), { headers: { "Content-Type": "application/json", ...headers } });
    const socket = await Client.connect(rpc.url, { headers });
    const asked = await rest.ask(`/${method}`, { method: method === "debugged" ? "GET" : "POST", headers });
    const ofResponse = ({ result, error }: { result?: unknown; error?: { code: number; message: string } }) => {
      if (error === undefined) return result !== undefined;
      expect(error).toMatchObject({ code: -32004, data: { status: 403 } });
      return error.message;
    };
    const answers = [ofResponse(JSON.parse(posted.text)), ofResponse(await socket.call(method))];
    return [...answers, asked.status === 403 ? JSON.parse(asked.text).message : asked.status === 200] as (
      | true
      | string
    )[];
  }

  it("are all answered to this machine", async () => {
    const servers = await open();
    expect(await answered(servers, "debugged")).toEqual([true, true, true]);
    expect(await answered(servers, "administered")).toEqual([true, true, true]);
  });

  it("are answered as far as they are listed", async () => {
    const servers = await open({ classes: ["read", "admin"] });
    const [posted, overWebSocket, asked] = await answered(servers, "debugged");
    expect(posted).toBe(
      "This server answers methods of the classes read, admin alone, and this is one of the class debug; --rpc-api changes that.",
    );
    expect(overWebSocket).toBe(posted);
    expect(asked).toMatch(/of the class debug; --rest-api/);
    expect(await servers.rest.ask("/debugged", { method: "HEAD" })).toMatchObject({ status: 403 });
    expect(await answered(servers, "administered")).toEqual([true, true, true]);
    await expectIn({ "JSON-RPC": servers.doors["JSON-RPC"]! }, {});
  });

  it("that change how the node runs take more than a page or a proxy", async () => {
    const listed = { Origin: "http://wallet.example" };
    const refused = Array(3).fill(expect.stringMatching(/admin can be called from this machine alone.*-token-file/));
    const servers = await open({ allowedOrigins: ["http://wallet.example", "*"] });
    expect(await answered(servers, "administered", listed)).toEqual([true, true, true]);
    expect(await answered(servers, "administered", { Origin: "http://any.example" })).toEqual(refused);
    for (const [name, value] of Object.entries(addedByProxies)) {
      expect(await answered(servers, "administered", { [name]: value }), name).toEqual(refused);
    }
    expect(await answered(servers, "debugged", { "X-Forwarded-For": "192.0.2.1" })).toEqual([true, true, true]);
  });

  it("that change how the node runs are open to whoever has the token", async () => {
    const servers = await open({ token: "0123456789abcdef" });
    const headers = { Authorization: "Bearer 0123456789abcdef", "X-Forwarded-For": "192.0.2.1" };
    expect(await answered(servers, "administered", headers)).toEqual([true, true, true]);
  });

  it("are refused one by one in a batch", async () => {
    const { rpc } = await open({ classes: ["read"] });
    const { text } = await rpc.post(`[${call("echo")},${call("debugged")},${call("echo")}]`);
    expect(JSON.parse(text)).toEqual([
      expect.objectContaining({ result: [] }),
      expect.objectContaining({ error: expect.objectContaining({ code: -32004 }) }),
      expect.objectContaining({ result: [] }),
    ]);
  });
});
