import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { WebSocketServer } from "ws";
import { answering, fakeTerminal, serve } from "../../../test/support/cli/call/call.ts";
import { EXIT_CODES, StartupError } from "../exit.ts";
import { runConsole } from "./console.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fanal-console-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const DISCOVERED = {
  methods: [
    { name: "getX", params: [] },
    { name: "getYes", params: [] },
    { name: "subscribe", params: [{ schema: { items: { enum: ["head", "block"] } } }] },
  ],
};

/** A node that echoes the parameters of most calls; a few methods behave differently. */
function servedNode(onHang = () => {}) {
  return serve((_request, response, body) => {
    const { method, params } = JSON.parse(body) as { method: string; params: unknown };
    if (method === "hang") return onHang();
    if (method === "fail")
      return response.end('{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"There is none."}}');
    const result = method === "rpc.discover" ? DISCOVERED : { method, params };
    response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result }));
  });
}

const sourcesFor = (url: string, ...flags: string[]) => ({
  flagTexts: new Map([["url", [url]], ...flags.map((flag): [string, string[]] => [flag, ["true"]])]),
  environment: { XDG_STATE_HOME: folder },
  workingDirectory: folder,
});

/** Runs lines as if from a pipe, without a terminal. */
function run(url: string, lines: string[], ...flags: string[]) {
  const input = new PassThrough();
  input.end(lines.join("\n"));
  return runInput(url, input, ...flags);
}

async function runInput(url: string, input: PassThrough, ...flags: string[]) {
  const { fake, written } = fakeTerminal();
  const face = { input, output: new PassThrough(), isInteractive: false };
  const code = await runConsole(sourcesFor(url, ...flags), fake, face);
  return { code, ...written };
}

describe("without a terminal", () => {
  it("runs lines like fanal call, in order and without a prompt", async () => {
    const url = await servedNode();
    writeFileSync(join(folder, "object.json"), '{"a":1}');
    const lines = ["# a comment", "", 'getX head ["0"] \'"1"\' 7', "  getYes @object.json --no-json", "getX -- --json"];
    expect(await run(url, lines, "json")).toMatchObject({
      code: EXIT_CODES.ok,
      err: "",
      out: [
        '{"method":"getX","params":["head",["0"],"1",7]}',
        "method  getYes",
        "params",
        "  a",
        "  1",
        '{"method":"getX","params":["--json"]}',
        "",
      ].join("\n"),
    });
  });

  it("continues after an error and exits with the code of the last one", async () => {
    const url = await servedNode();
    const failed = await run(url, ["fail", "getX 'a", "getX --jsno", "getX -", "getX"]);
    expect(failed.code).toBe(EXIT_CODES.usage);
    expect(failed.out).toContain("getX");
    expect(failed.err.split("\n")).toEqual([
      "fanal: There is none.",
      "  code  -32001",
      "fanal: The quote ' is not closed.",
      "fanal: Unknown flag --jsno. Did you mean --json?",
      "fanal: Standard input is read by the console. Give the JSON as @FILE.",
      "",
    ]);
    expect(await run(url, ["getX 'a", "fail"])).toMatchObject({ code: EXIT_CODES.internal });
    expect(await run(url, ["fail", ".exit", "getX 'a"])).toMatchObject({ code: EXIT_CODES.internal });
    expect(await run("http://127.0.0.1:1", ["getX", "getX"])).toMatchObject({ code: EXIT_CODES.noAnswer, out: "" });
  });

  it("prints help", async () => {
    const { out } = await run(await answering(""), ["help", "help getChainHead", "getX -h"]);
    expect(out).toContain("Usage: fanal console [flags]");
    expect(out).toContain("fanal call getChainHead\n");
    expect(out).toContain("Usage: fanal call METHOD");
  });
});

/** Simulates a user at a terminal. */
function typist(url: string) {
  const { fake, written } = fakeTerminal();
  const input = new PassThrough();
  const output = new PassThrough();
  let shown = "";
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const look of waiting) look();
  };
  output.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    wake();
  });
  const terminal = {
    ...fake,
    write: async (chunk: string | Uint8Array) => {
      const isRead = await fake.write(chunk);
      wake();
      return isRead;
    },
    writeError: (text: string) => {
      fake.writeError(text);
      wake();
    },
  };
  const code = runConsole(sourcesFor(url), terminal, { input, output, isInteractive: true });
  const until = (isThere: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!isThere()) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return {
    code,
    written,
    type: (keys: string) => input.write(keys),
    /** Waits until the prompt has been shown `count` times. */
    prompted: (count: number) => until(() => shown.split("fanal> \u001b[8G").length > count),
    shows: (text: string) => until(() => shown.includes(text)),
    printedError: (text: string) => until(() => written.err.includes(text)),
    printed: (text: string) => until(() => written.out.includes(text)),
  };
}

describe("on a terminal", () => {
  it("completes methods, commands and topics, and keeps a history", async () => {
    const url = await servedNode();
    const person = typist(url);
    await person.printedError(`3 methods at ${url}.`);
    await person.prompted(1);
    person.type("getY");
    person.type("\t");
    await person.shows("getYes ");
    person.type("1\r");
    await person.printed("method  getYes");
    await person.prompted(2);
    person.type("subscribe he");
    person.type("\t");
    await person.shows("subscribe head ");
    // Ctrl-C discards the line, and Ctrl-D leaves the console.
    person.type("\u0003");
    await person.prompted(3);
    person.type("\u0004");
    expect(await person.code).toBe(EXIT_CODES.ok);
    expect(readFileSync(join(folder, "fanal", "console-history"), "utf8")).toContain("getYes 1\n");

    const again = typist(url);
    await again.prompted(1);
    again.type("\u001b[A");
    await again.shows("getYes 1");
    again.type("\u0003");
    again.type(".exit\r");
    expect(await again.code).toBe(EXIT_CODES.ok);
  });

  it("cancels a call on Ctrl-C and keeps running if the node is unreachable", async () => {
    const hanging = Promise.withResolvers<void>();
    const url = await servedNode(() => hanging.resolve());
    const person = typist(url);
    await person.prompted(1);
    person.type("hang\r");
    await hanging.promise;
    person.type("\u0003");
    await person.printedError("Cancelled.");
    await person.prompted(2);
    person.type("getX --url http://127.0.0.1:1\r");
    await person.printedError("is unreachable");
    person.type("getX after\r");
    await person.printed("after");
    person.type(".exit\r");
    expect(await person.code).toBe(EXIT_CODES.ok);

    const early = typist("http://127.0.0.1:1");
    await early.printedError("is unreachable");
    await early.prompted(1);
    early.type("\u0004");
    expect(await early.code).toBe(EXIT_CODES.ok);
  });
});

describe("subscription", () => {
  async function eventServer(events: object[], thenCloses = false) {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    onTestFinished(() => {
      for (const client of server.clients) client.terminate();
      server.close();
    });
    const requests: unknown[] = [];
    server.on("connection", (socket) =>
      socket.on("message", (text) => {
        requests.push(JSON.parse(String(text)));
        socket.send('{"jsonrpc":"2.0","id":1,"result":"0x1"}');
        for (const params of events) socket.send(JSON.stringify({ jsonrpc: "2.0", method: "subscription", params }));
        if (thenCloses) socket.close();
      }),
    );
    await once(server, "listening");
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, server };
  }

  it("prints events until Enter is pressed", async () => {
    const { url, requests, server } = await eventServer([{ topic: "head", data: { slot: "5" } }]);
    const person = typist(url);
    await person.prompted(1);
    person.type("subscribe head block\r");
    await person.printed("head\n  slot  5\n");
    expect(requests).toEqual([{ jsonrpc: "2.0", id: 1, method: "subscribe", params: [["head", "block"]] }]);
    const [client] = server.clients;
    person.type("\r");
    await once(client!, "close");
    await person.prompted(2);
    person.type("\u0004");
    expect(await person.code).toBe(EXIT_CODES.ok);
  });

  it("ends with the input or at the next line without a terminal", async () => {
    const { url, server } = await eventServer([]);
    const ended = "Printing events until the next line or the end of the input.\n";
    expect(await run(url, ["subscribe head"])).toMatchObject({ code: EXIT_CODES.ok, err: ended });
    expect(await run(url, ["subscribe head", `getX --url ${await servedNode()}`])).toMatchObject({
      code: EXIT_CODES.ok,
      err: ended,
      out: expect.stringContaining("getX"),
    });

    const input = new PassThrough();
    const running = runInput(url, input);
    const requested = once(server, "connection").then(([socket]) => once(socket, "message"));
    input.write("subscribe head\n");
    await requested;
    input.end(`getX --url ${await servedNode()}\n`);
    expect(await running).toMatchObject({ code: EXIT_CODES.ok, err: ended, out: expect.stringContaining("getX") });
  });

  it("fails if the node closes or rejects it, or if events cannot be written", async () => {
    const untilFailure = async (url: string, line: string, broken = {}) => {
      const { fake, written } = fakeTerminal();
      const input = new PassThrough();
      const writeError = (text: string) => {
        fake.writeError(text);
        if (text.startsWith("fanal: ")) input.end();
      };
      input.write(`${line}\n`);
      const face = { input, output: new PassThrough(), isInteractive: false };
      return { code: await runConsole(sourcesFor(url), { ...fake, writeError, ...broken }, face), ...written };
    };
    const closing = await eventServer([{ topic: "head", data: { slot: "5" } }], true);
    expect(await untilFailure(closing.url, 'subscribe ["head"] --json')).toMatchObject({
      code: EXIT_CODES.noAnswer,
      out: '{"topic":"head","data":{"slot":"5"}}\n',
      err: expect.stringContaining("closed the connection."),
    });
    const slow = await eventServer([{ subscription: "0x1", error: { code: -32005, message: "Too slow." } }]);
    expect(await untilFailure(slow.url, "subscribe head")).toMatchObject({
      code: EXIT_CODES.internal,
      err: expect.stringContaining("fanal: Too slow.\n"),
    });
    const withPassword = await untilFailure(closing.url.replace("//", "//me:hidden@"), "subscribe head");
    expect(withPassword).toMatchObject({ code: EXIT_CODES.noAnswer, err: expect.not.stringContaining("hidden") });
    const write = () => Promise.reject(new StartupError("outputFailed", "Standard output cannot be written."));
    const lasting = await eventServer([{ topic: "head", data: { slot: "5" } }]);
    expect(await untilFailure(lasting.url, "subscribe head", { write })).toMatchObject({
      code: EXIT_CODES.outputFailed,
    });
  });
});
