import { execFileSync } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { OK, openRawServer } from "../../test/support/http-client/raw-server.ts";
import type { HttpClient, HttpRequest, SendOptions } from "./http-client.ts";
import { readBody } from "./response.ts";

const GET: HttpRequest = { method: "GET", path: "/" };
const MIB = 1024 * 1024;

async function read(
  client: HttpClient,
  request: Partial<HttpRequest> = {},
  options: SendOptions & { signal?: AbortSignal } = {},
): Promise<string> {
  const { body } = await client.request({ ...GET, ...request }, options);
  return (await readBody(body, MIB)).toString();
}

const pathOf = (request: string) => request.split(" ")[1]!;

describe("a request", () => {
  it("has its own headers, those of the client and the credentials of the URL", async () => {
    const { client, requests } = await openRawServer(undefined, {
      headers: { accept: "application/json" },
      credentials: "us%20er:p%C3%A4ss@",
    });
    expect(await read(client, { path: "/a?b=c", headers: { "x-y": "z" } })).toBe("ok");
    const authorization = `Basic ${Buffer.from("us er:päss").toString("base64")}`;
    expect(requests[0]).toMatch(/^GET \/a\?b=c HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\nconnection: keep-alive\r\n/);
    expect(requests[0]).toContain(
      `accept-encoding: identity\r\nauthorization: ${authorization}\r\naccept: application/json\r\nx-y: z\r\n`,
    );
  });

  it.each([10, 1_000_000])("carries a body of %i bytes", async (length) => {
    let received = 0;
    const { client, sockets } = await openRawServer((socket, data) => {
      received += data.length;
      if (data.endsWith("!")) socket.write(OK);
    });
    const body = Buffer.alloc(length, "x").fill("!", length - 1);
    for (let time = 0; time < 2; time++) expect(await read(client, { method: "POST", body })).toBe("ok");
    expect(received).toBeGreaterThan(2 * length);
    expect(sockets).toHaveLength(1);
  });

  it.each<Partial<HttpRequest>>([
    { path: "/a b" },
    { path: "/a\r\nX: y" },
    { headers: { "x-y": "a\r\nContent-Length: 5" } },
    { headers: { "x y": "a" } },
    { headers: { "": "a" } },
  ])("that would be another one on the wire is refused: %j", async (request) => {
    const { client, sockets } = await openRawServer();
    await expect(read(client, request)).rejects.toMatchObject({ code: "UND_ERR_INVALID_ARG" });
    expect(sockets).toHaveLength(0);
  });
});

describe("connections", () => {
  it("are reused sequentially, and several are opened for concurrent requests", async () => {
    const { client, sockets } = await openRawServer();
    for (let time = 0; time < 3; time++) expect(await read(client)).toBe("ok");
    expect(sockets).toHaveLength(1);
    expect(await Promise.all([read(client), read(client), read(client)])).toEqual(["ok", "ok", "ok"]);
    expect(sockets).toHaveLength(3);
  });

  it("are not reused after Connection: close, excess bytes, or a request that is not idempotent", async () => {
    const closing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
    const answers = [OK, `${OK}HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong`, closing, OK];
    const { client, sockets } = await openRawServer((socket) => socket.write(answers[sockets.length - 1]!));
    expect(await read(client, {}, { idempotent: false })).toBe("ok");
    for (let request = 1; request < answers.length; request++) expect(await read(client)).toBe("ok");
    expect(sockets).toHaveLength(answers.length);
  });

  it("are not reused after the server has closed them or sent bytes on them while idle", async () => {
    const { client, sockets } = await openRawServer();
    const closers: ((socket: Socket) => void)[] = [(socket) => socket.end(), (socket) => socket.write(OK)];
    for (const close of closers) {
      expect(await read(client)).toBe("ok");
      const idle = sockets.at(-1)!;
      close(idle);
      await once(idle, "close");
    }
    expect(await read(client)).toBe("ok");
    expect(sockets).toHaveLength(3);
  });

  it("are not reused while part of an answered request is unsent", async () => {
    const { client, sockets } = await openRawServer((socket, request) => {
      if (request.startsWith("POST")) socket.pause();
      socket.write(OK);
    });
    expect(await read(client, { method: "POST", body: Buffer.alloc(20_000_000) })).toBe("ok");
    expect(await read(client)).toBe("ok");
    expect(sockets).toHaveLength(2);
  });

  it("that the server closes before it answers are replaced once, unless the request is not idempotent", async () => {
    const closers: ((socket: Socket) => void)[] = [(socket) => socket.end(), (socket) => socket.resetAndDestroy()];
    for (const close of closers) {
      let isDown = false;
      const { client, sockets, requests } = await openRawServer((socket, request) => {
        if (pathOf(request) === "/lost" && (isDown || socket === sockets[0])) close(socket);
        else socket.write(OK);
      });
      expect(await read(client, { path: "/first" })).toBe("ok");
      expect(await read(client, { path: "/lost" })).toBe("ok");
      expect(sockets).toHaveLength(2);
      isDown = true;
      await expect(read(client, { path: "/lost" })).rejects.toThrow();
      expect(sockets).toHaveLength(3);
      await expect(read(client, { path: "/lost" }, { idempotent: false })).rejects.toThrow();
      expect(requests.map(pathOf)).toEqual(["/first", "/lost", "/lost", "/lost", "/lost", "/lost"]);
    }
  });

  it("that break off in the middle of the response headers are not replaced", async () => {
    const { client, requests } = await openRawServer((socket) => {
      if (requests.length === 1) socket.write(OK);
      else socket.end("HTTP/1.1 2");
    });
    expect(await read(client, { path: "/first" })).toBe("ok");
    await expect(read(client, { path: "/second" })).rejects.toThrow();
    expect(requests.map(pathOf)).toEqual(["/first", "/second"]);
  });

  it("report a reconnect after the server closed one, and not after Connection: close", async () => {
    let reconnects = 0;
    const closing = OK.replace("OK\r\n", "OK\r\nConnection: close\r\n");
    const { client, sockets } = await openRawServer(
      (socket, request) => socket.write(pathOf(request) === "/closing" ? closing : OK),
      { onReconnect: () => reconnects++ },
    );
    for (let time = 0; time < 3; time++) await read(client, { path: "/closing" });
    expect(reconnects).toBe(0);
    await read(client);
    const idle = sockets.at(-1)!;
    idle.end();
    await once(idle, "close");
    await Promise.all([read(client), read(client)]);
    expect(reconnects).toBe(1);
  });
});

describe("a response", () => {
  const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  it.each<[title: string, bytes: string, body: string]>([
    [
      "in chunks, with extensions and trailers",
      `${CHUNKED}5;a="b c"\r\nhello\r\n1\r\n!\r\n0\r\nDigest: x\r\n\r\n`,
      "hello!",
    ],
    ["of no chunk", `${CHUNKED}0\r\n\r\n`, ""],
    ["without a body", "HTTP/1.1 204 No Content\r\n\r\n", ""],
    [
      "after interim responses",
      `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${OK}`,
      "ok",
    ],
    ["of an old server", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", "x"],
  ])("%s is read, whole and byte by byte", async (_title, bytes, body) => {
    const { client } = await openRawServer((socket, request) => {
      socket.setNoDelay(true);
      if (pathOf(request) === "/whole") socket.write(bytes, "latin1");
      else for (const byte of bytes) socket.write(byte, "latin1");
    });
    expect(await read(client, { path: "/whole" })).toBe(body);
    expect(await read(client, { path: "/bytes" })).toBe(body);
  });

  it("without a length ends with its connection", async () => {
    const { client } = await openRawServer((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nall of it"));
    expect(await read(client)).toBe("all of it");
  });

  it("has lowercase header names, repeated headers joined, and the status line", async () => {
    const head =
      "HTTP/1.1 404 Not There\r\nVary: a\r\nConstructor: x\r\nX-Empty:\r\nVary: b\r\nContent-Length: 0\r\n\r\n";
    const { client } = await openRawServer((socket) => socket.write(head));
    const { status, statusText, headers } = await client.request(GET);
    expect({ status, statusText }).toEqual({ status: 404, statusText: "Not There" });
    expect(headers).toEqual({ vary: "a, b", constructor: "x", "x-empty": "", "content-length": "0" });
  });

  it("that redirects is returned unchanged", async () => {
    const { client, requests } = await openRawServer((socket) => {
      socket.write("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n");
    });
    expect(await client.request(GET)).toMatchObject({ status: 302, headers: { location: "/other" } });
    expect(requests).toHaveLength(1);
  });

  const head = "HTTP/1.1 200 OK\r\n";
  const malformed = { name: "HTTPParserError" };
  const mismatch = { code: "UND_ERR_RES_CONTENT_LENGTH_MISMATCH" };
  it.each<[title: string, bytes: string, error: { code: string } | { name: string }]>([
    ["too many headers", `${head}${"X: y\r\n".repeat(300)}\r\n`, { code: "ERR_TOO_MANY_HEADERS" }],
    ["too large headers", `${head}X: ${"y".repeat(40_000)}\r\n\r\n`, { code: "UND_ERR_HEADERS_OVERFLOW" }],
    [
      "too many interim responses",
      "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(20),
      { code: "ERR_TOO_MANY_INTERIM_RESPONSES" },
    ],
    ["too large trailers", `${CHUNKED}0\r\n${"X: y\r\n".repeat(20_000)}`, { code: "UND_ERR_HEADERS_OVERFLOW" }],
    [
      "too large a body",
      `${head}Content-Length: 9000000\r\n\r\n${"x".repeat(1048577)}`,
      { code: "ERR_BODY_TOO_LARGE" },
    ],
    [
      "an upgrade",
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
      { code: "UND_ERR_SOCKET" },
    ],
    ["another protocol", "SSH-2.0-OpenSSH_9.9\r\n", malformed],
    ["two lengths", `${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`, mismatch],
    ["a length and chunks", `${head}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`, mismatch],
    ["a line break without CR", `${head}X: a\nY: b\r\n\r\n`, malformed],
    ["a longer chunk than announced", `${CHUNKED}1\r\nxy\r\n0\r\n\r\n`, malformed],
  ])("with %s is refused", async (_title, bytes, error) => {
    const { client, sockets } = await openRawServer((socket) => socket.write(bytes));
    await expect(read(client)).rejects.toMatchObject(error);
    await expect.poll(() => sockets[0]!.destroyed).toBe(true);
  });

  it.each<[title: string, bytes: string]>([
    ["a length", `${head}Content-Length: 30\r\n\r\n12345`],
    ["a length and Connection: close", `${head}Connection: close\r\nContent-Length: 30\r\n\r\n12345`],
    ["chunks", `${CHUNKED}5\r\n12345\r\n`],
    ["chunks and Connection: close", `${CHUNKED.replace("OK\r\n", "OK\r\nConnection: close\r\n")}5\r\n12345\r\n`],
  ])("with %s that is truncated fails, whether the connection ends or is reset", async (_title, bytes) => {
    const { client } = await openRawServer((socket, request) => {
      if (pathOf(request) === "/end") socket.end(bytes);
      else socket.write(bytes, () => socket.resetAndDestroy());
    });
    for (const path of ["/end", "/reset"]) await expect(read(client, { path })).rejects.toThrow();
  });

  it("that is not read applies backpressure, and is complete when it is read later", async () => {
    const sentBody = Buffer.alloc(32 * MIB, "x");
    let sent = 0;
    const { client } = await openRawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${sentBody.length}\r\n\r\n`);
      const write = () => {
        while (sent < sentBody.length) {
          const goesOn = socket.write(sentBody.subarray(sent, sent + 256 * 1024));
          sent += 256 * 1024;
          if (!goesOn) {
            socket.once("drain", write);
            return;
          }
        }
      };
      write();
    });
    const { body } = await client.request(GET);
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(sent).toBeLessThan(sentBody.length);
    expect((await readBody(body, sentBody.length)).equals(sentBody)).toBe(true);
  });

  it("that arrives in single bytes is read in few chunks", async () => {
    const { client } = await openRawServer((socket) =>
      socket.end(`${CHUNKED}${"1\r\nx\r\n".repeat(200_000)}0\r\n\r\n`),
    );
    let chunks = 0;
    let bytes = 0;
    for await (const chunk of (await client.request(GET)).body) {
      chunks++;
      bytes += chunk.length;
    }
    expect(bytes).toBe(200_000);
    expect(chunks).toBeLessThan(2000);
  });

  it("that is not read to its end closes its connection", async () => {
    const { client, sockets } = await openRawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello`);
    });
    for await (const chunk of (await client.request(GET)).body) {
      expect(chunk.toString()).toBe("hello");
      break;
    }
    await expect.poll(() => sockets[0]!.destroyed).toBe(true);
  });
});

describe("an abort", () => {
  it("before the request sends nothing", async () => {
    const { client, sockets } = await openRawServer();
    await expect(read(client, {}, { signal: AbortSignal.abort(new Error("aborted")) })).rejects.toThrow("aborted");
    expect(sockets).toHaveLength(0);
  });

  it("before the connection is open sends nothing", async () => {
    const { client, sockets, requests } = await openRawServer();
    const abort = new AbortController();
    const aborted = read(client, {}, { signal: abort.signal });
    abort.abort(new Error("aborted"));
    await expect(aborted).rejects.toThrow("aborted");
    await expect.poll(() => sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
    expect(requests).toEqual([]);
  });

  it.each([
    ["before the headers", ""],
    ["after the headers", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"],
  ])("%s closes the connection", async (_title, bytes) => {
    const abort = new AbortController();
    const { client, sockets } = await openRawServer((socket) => {
      socket.write(bytes, () => setImmediate(() => abort.abort(new Error("aborted"))));
    });
    await expect(read(client, {}, { signal: abort.signal })).rejects.toThrow("aborted");
    await expect.poll(() => sockets[0]!.destroyed).toBe(true);
  });

  it("after the response leaves its connection to the next request", async () => {
    const { client, sockets } = await openRawServer();
    const abort = new AbortController();
    expect(await read(client, {}, { signal: abort.signal })).toBe("ok");
    const next = read(client);
    abort.abort();
    expect(await next).toBe("ok");
    expect(sockets).toHaveLength(1);
  });
});

it("a closed client fails requests in flight and later ones", async () => {
  const { client, sockets, requests } = await openRawServer(() => {});
  const waiting = read(client);
  await expect.poll(() => requests).toHaveLength(1);
  client.close();
  await expect(waiting).rejects.toMatchObject({ code: "ERR_CLOSED" });
  await expect(read(client)).rejects.toMatchObject({ code: "ERR_CLOSED" });
  expect(sockets).toHaveLength(1);
});

it("a refused connection fails with the error of the system", async () => {
  const { client, server } = await openRawServer();
  await new Promise((resolve) => server.close(resolve));
  await expect(read(client)).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

it("undici is loaded by the first request, not by a client", () => {
  const url = import.meta.resolve("./http-client.ts");
  const program = `
    const { HttpClient } = await import(${JSON.stringify(url)});
    const { createRequire } = await import("node:module");
    const isLoaded = () => Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes("/undici/"));
    const client = new HttpClient("http://127.0.0.1:1");
    console.log(isLoaded());
    await client.request({ method: "GET", path: "/" }).catch(() => console.log(isLoaded()));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  expect(output).toBe("false\ntrue\n");
});
