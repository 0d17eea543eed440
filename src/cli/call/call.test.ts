import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { answering, serve, fakeTerminal as terminal } from "../../../test/support/cli/call/call.ts";
import { StartupError } from "../exit.ts";
import { type CallOptions, runCall } from "./call.ts";
import { CallPrinter } from "./printer.ts";
import { NoResponseError } from "./request.ts";
import { sendOnceStarted } from "./starting-node.ts";

async function call(url: string, options: Partial<CallOptions> = {}, face = terminal()) {
  const defaults = { method: "m", params: "[]", json: false, meta: false, timeout: 30 };
  const code = await runCall({ ...defaults, ...options, url }, face.fake);
  return { code, ...face.written };
}

describe("fanal call", () => {
  it("sends parameters as written", async () => {
    let sent: { method?: string; type?: string; body?: string } = {};
    const url = await serve((request, response, body) => {
      sent = { method: request.method, type: request.headers["content-type"], body };
      response.end('{"jsonrpc":"2.0","id":1,"result":true}');
    });
    const params = '["head",18446744073709551615]';
    expect(await call(url, { method: 'a"b', params, meta: true })).toMatchObject({ code: 0 });
    expect(sent).toEqual({
      method: "POST",
      type: "application/json",
      body: '{"jsonrpc":"2.0","id":1,"method":"a\\"b","params":["head",18446744073709551615],"meta":true}',
    });
  });

  it("prints a formatted result, with metadata if requested", async () => {
    const url = await answering('{"jsonrpc":"2.0","id":1,"result":{"slot":"5"},"meta":{"finalized":false}}');
    expect(await call(url)).toMatchObject({ code: 0, out: "slot  5\n", err: "" });
    expect(await call(url, { meta: true })).toMatchObject({ out: "slot  5\n\nmeta\n  finalized  false\n" });
  });

  it("prints the raw bytes of the result, wherever it is in the response", async () => {
    const result = '{ "n": 1.50, "big":18446744073709551615,"s":"ü\\n" }';
    const url = await answering(`{"meta":{"a":1},"result":${result},"id":1,"jsonrpc":"2.0"}`);
    expect(await call(url, { json: true })).toMatchObject({ code: 0, out: `${result}\n` });
    expect(await call(url, { json: true, meta: true })).toMatchObject({ out: `{"result":${result},"meta":{"a":1}}\n` });
  });

  it("shortens hex only on a terminal", async () => {
    const url = await answering(`{"jsonrpc":"2.0","id":1,"result":"0x${"ab".repeat(32)}"}`);
    expect(await call(url)).toMatchObject({ out: `0x${"ab".repeat(32)}\n` });
    expect(await call(url, {}, terminal({ isInteractive: true }))).toMatchObject({ out: "0xabababab…abababab\n" });
  });

  it("escapes terminal control sequences", async () => {
    // Escape, a C1 control, DEL, a right-to-left override and a line separator, both raw and, where JSON allows it,
    // escaped.
    const raw = "a\u001b[2Jb\u009b31mc\u007fd\u202ee\u2028f\rg\u{e0041}";
    const result = `{"${raw}":\t["${raw}", "\\u001b[2J"]}`;
    const CONTROLS = /[^\P{Cc}\n\t]|[\p{Cf}\u2028]/u;
    const url = await answering(`{"jsonrpc":"2.0","id":1,"result":${result},"meta":{"m":"${raw}"}}`);
    const asJson = await call(url, { json: true, meta: true });
    expect(asJson.out).not.toMatch(CONTROLS);
    const text = raw.replace("\r", " ");
    expect(JSON.parse(asJson.out)).toEqual({ result: { [text]: [text, "\u001b[2J"] }, meta: { m: text } });
    // Errors are parsed as a whole, so invalid JSON in an error is rejected.
    const allowed = text.replace("\u001b", "");
    const failed = await answering(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"${allowed}"}}`);
    const error = await call(failed, { json: true });
    expect(error.err).not.toMatch(CONTROLS);
    expect(JSON.parse(error.err)).toEqual({ code: 1, message: allowed });
    const readable = await call(await answering(`{"jsonrpc":"2.0","id":1,"result":["\\u001b[2J\u202e\\r"]}`));
    expect(readable.out).toBe('["\\u001b[2J\\u202e\\r"]\n');
  });

  it("escapes a character split over two chunks", async () => {
    const { fake, written } = terminal();
    const printer = new CallPrinter({ json: true, meta: false }, fake);
    const bytes = Buffer.from('"é\u202eé"');
    for (let at = 0; at < bytes.length; at++) await printer.takeResult(bytes.subarray(at, at + 1));
    await printer.finish(Buffer.alloc(0));
    expect(written.out).toBe('"é\\u202eé"\n');
  });

  it("sends the token, and reports a rejection with exit code 1", async () => {
    const url = await serve((request, response) => {
      if (request.headers.authorization === "Bearer secret") response.end('{"jsonrpc":"2.0","id":1,"result":true}');
      else response.writeHead(401).end('{"code":401,"message":"Who are you?\\u001b[2J"}');
    });
    expect(await call(url, { token: "secret" })).toMatchObject({ code: 0, out: "true\n" });
    await expect(call(url)).rejects.toMatchObject({
      exitCode: 1,
      message: `The server at ${url} rejected the call: "Who are you?\\u001b[2J" Send a token with --token-file.`,
    });
    const forbidding = await answering("<html>", 403);
    await expect(call(forbidding)).rejects.toThrow(`at ${forbidding} rejected the call: HTTP status 403.`);
  });

  it("prints an error to standard error, with exit code 1", async () => {
    const error = '{"code":-32001,"message":"There is none.","data":{"status":404}}';
    const url = await answering(`{"jsonrpc":"2.0","id":1,"error":${error}}`, 404);
    expect(await call(url)).toMatchObject({
      code: 1,
      out: "",
      err: "fanal: There is none.\n  code  -32001\n  data\n    status  404\n",
    });
    expect(await call(url, { json: true })).toMatchObject({ code: 1, out: "", err: `${error}\n` });
  });

  it("prints null as a result", async () => {
    expect(await call(await answering('{"jsonrpc":"2.0","id":1,"result":null}'))).toMatchObject({
      code: 0,
      out: "null\n",
    });
  });

  it.each([
    ["<html>", 200],
    ["[]", 200],
    ['{"jsonrpc":"2.0","id":1}', 200],
    ['{"jsonrpc":"2.0","id":1,"error":7}', 200],
    ['{"code":413,"message":"Too large."}', 413],
    ["", 502],
    ['{"jsonrpc":"2.0","id":1,"result":nonsense}', 200],
  ])("says that %s is no answer, with exit code 8", async (body, status) => {
    const refusal = call(await answering(body, status));
    await expect(refusal).rejects.toBeInstanceOf(StartupError);
    await expect(refusal).rejects.toMatchObject({ exitCode: 8 });
    await expect(refusal).rejects.toThrow(
      `does not speak JSON-RPC${status === 200 ? "" : ` (HTTP status ${status})`}.`,
    );
  });

  it("reports an unreachable node with exit code 8", async () => {
    await expect(call("http://127.0.0.1:1")).rejects.toMatchObject({
      exitCode: 8,
      message:
        "The node at http://127.0.0.1:1 is unreachable: connect ECONNREFUSED 127.0.0.1:1. Is a node running there, with --rpc? --url takes another address.",
    });
  });

  it("waits for a node on this machine that is starting", async () => {
    const sent: string[] = [];
    const server = createServer(async (request, response) => {
      const { method } = (await json(request)) as { method: string };
      sent.push(method);
      const result = method === "getReadiness" ? `{"ready":${sent.length > 1}}` : "true";
      response.end(`{"jsonrpc":"2.0","id":1,"result":${result}}`);
    });
    const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    await listen(0);
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    onTestFinished(() => void server.close());
    const face = terminal();
    const writeError = (text: string) => {
      face.written.err += text;
      void listen(port);
    };
    const url = `http://user:secret@localhost:${port}`;
    const waiting = { fake: { ...face.fake, writeError }, written: face.written };
    expect(await call(url, { waitSeconds: 30 }, waiting)).toMatchObject({
      code: 0,
      out: "true\n",
      err: `fanal: Waiting up to 30 seconds for a node at http://…@localhost:${port}.\n`,
    });
    expect(sent).toEqual(["getReadiness", "getReadiness", "m"]);
  });

  it("does not wait longer than asked, nor for other machines and errors", async () => {
    const refused = new NoResponseError("", Object.assign(new Error(), { code: "ECONNREFUSED" }));
    const silent = new NoResponseError("");
    const local = "http://[::1]:1";
    const messages: string[] = [];
    const failing = (error: Error, url: string, waitSeconds: number) =>
      sendOnceStarted(() => Promise.reject(error), {
        url,
        waitSeconds,
        isReady: () => Promise.reject(error),
        onWait: (text) => messages.push(text),
      });
    await expect(failing(refused, local, 0.001)).rejects.toBe(refused);
    expect(messages.splice(0)).toEqual([`Waiting up to 0.001 seconds for a node at ${local}.`]);
    await expect(failing(refused, local, 0)).rejects.toBe(refused);
    await expect(failing(refused, "http://10.0.0.1:1", 30)).rejects.toBe(refused);
    await expect(failing(silent, local, 30)).rejects.toBe(silent);
    expect(messages).toEqual([]);
  });

  it("omits the password of the URL from every error", async () => {
    const withPassword = (url: string) => url.replace("//", "//user:secret@");
    const silent = await serve(() => {});
    const refusals = [
      call(withPassword("http://127.0.0.1:1")),
      call(withPassword(silent), { timeout: 0.05 }),
      call(withPassword(await answering("", 502))),
      call(withPassword(await answering("{}", 401))),
      call(withPassword(await serve((_request, response) => response.write("{", () => response.destroy())))),
    ];
    for (const outcome of await Promise.allSettled(refusals)) {
      expect(outcome.status).toBe("rejected");
      expect(String((outcome as PromiseRejectedResult).reason)).toMatch(/ at http:\/\/…@127\.0\.0\.1/);
    }
  });

  it("times out before and within a response", async () => {
    const silent = await serve(() => {});
    await expect(call(silent, { timeout: 0.05 })).rejects.toMatchObject({
      exitCode: 8,
      message: `The node at ${silent} did not answer within 0.05 seconds.`,
    });
    const stuck = await serve((_request, response) => response.write('{"jsonrpc":"2.0","id":1,"result":['));
    await expect(call(stuck, { timeout: 0.2 })).rejects.toMatchObject({ exitCode: 8 });
  });

  it("reports an aborted response", async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { "Content-Length": 1000 });
      response.write('{"jsonrpc":"2.0","id":1,"result":[1,', () => response.destroy());
    });
    await expect(call(url)).rejects.toMatchObject({
      exitCode: 8,
      message: `The node at ${url} closed the connection during its response.`,
    });
  });

  it("stops silently when the reader closes the pipe, and closes the connection", async () => {
    const left = Promise.withResolvers<void>();
    const url = await serve((_request, response) => {
      response.on("close", left.resolve);
      response.write('{"jsonrpc":"2.0","id":1,"result":[0');
      const more = () => {
        if (!response.destroyed) response.write(`,${"1".repeat(10_000)}`, more);
      };
      more();
    });
    expect(await call(url, { json: true }, terminal({ reads: 3 }))).toMatchObject({ code: 0, err: "" });
    await left.promise;
  });
});

describe("a result too large to format", () => {
  it("is printed as JSON while it arrives", async () => {
    const { fake, written } = terminal();
    const printer = new CallPrinter({ json: false, meta: true }, fake, 5);
    await printer.takeResult(Buffer.from("[1,2"));
    expect(written).toMatchObject({ out: "", err: "" });
    await printer.takeResult(Buffer.from(",3"));
    expect(written.out).toBe('{"result":[1,2,3');
    expect(written.err).toBe("fanal: The result exceeds 5 bytes and is printed as JSON.\n");
    await printer.takeResult(Buffer.from("]"));
    await printer.finish(Buffer.from('{"a":1}'));
    expect(written.out).toBe('{"result":[1,2,3],"meta":{"a":1}}\n');
  });
});
