import { createHmac } from "node:crypto";
import { ForkName } from "@lodestar/params";
import { describe, expect, it, vi } from "vitest";
import { FakeTimers } from "../../../test/support/fake-timers.ts";
import { type EngineState, EngineUnavailableError } from "../engine.ts";
import { ScriptedError } from "../scripted-server.test-support.ts";
import {
  builtJson,
  CAPABILITIES,
  GENESIS_HASH,
  HASH,
  head,
  NotingTimers,
  OTHER_HASH,
  openClient,
  openEngine,
  payloadContext,
  payloadRequest,
  payloadStatus,
  SECRET,
} from "./engine-api.test-support.ts";
import { samplePayload } from "./sample-payload.test-support.ts";

describe("Endpoint", () => {
  it("introduces itself with a token of the moment, and learns who the client is", async () => {
    const server = await openClient();
    const { engine, timers, messages } = await openEngine([server]);
    expect(engine.state).toBe("online");
    expect(engine.clientVersion).toEqual({ code: "GE", name: "Geth", version: "v1.16.0", commit: "0x12345678" });
    expect(messages()).toEqual(["The execution client is connected"]);

    const [header, claims, signature] = server.calls[0]!.authorization!.replace("Bearer ", "").split(".");
    const read = (part: string | undefined) => JSON.parse(Buffer.from(part!, "base64url").toString()) as unknown;
    expect(read(header)).toEqual({ alg: "HS256", typ: "JWT" });
    expect(read(claims)).toEqual({ iat: Math.floor(timers.unixNow() / 1000) });
    expect(signature).toBe(createHmac("sha256", SECRET).update(`${header}.${claims}`).digest("base64url"));

    await timers.advance(60_000);
    server.on("engine_forkchoiceUpdatedV3", () => ({ payloadStatus: payloadStatus("VALID"), payloadId: null }));
    await engine.forkchoiceUpdated(ForkName.deneb, head());
    const later = server.calls.at(-1)!.authorization!.split(".")[1];
    expect(read(later)).toEqual({ iat: Math.floor(timers.unixNow() / 1000) });
  });

  it("follows how the client is by its answers, and tells once of each change", async () => {
    const server = await openClient();
    const { engine, messages } = await openEngine([server]);
    const states: EngineState[] = [];
    engine.onStateChange((state) => states.push(state));
    let word = "SYNCING";
    server.on("engine_newPayloadV3", () => payloadStatus(word));
    server.on("engine_forkchoiceUpdatedV3", () => ({ payloadStatus: payloadStatus(word), payloadId: null }));
    const ask = () => engine.notifyNewPayload(ForkName.deneb, samplePayload(ForkName.deneb), payloadContext);
    for (word of ["SYNCING", "SYNCING", "ACCEPTED", "INVALID", "VALID"]) await ask();
    await engine.forkchoiceUpdated(ForkName.deneb, { ...head(), isBehind: true });
    expect(server.calls.at(-1)!.params).toEqual([head(), null]);
    // Neither a valid payload nor a valid head of the past ends it.
    expect(states).toEqual(["syncing"]);
    await engine.forkchoiceUpdated(ForkName.deneb, head());
    for (word of ["VALID", "ACCEPTED", "INVALID"]) await ask();
    expect(states).toEqual(["syncing", "synced"]);
    expect(messages().slice(1)).toEqual(["The execution client is syncing", "The execution client is synced"]);
  });

  it("notices that the client is away, answers at once meanwhile, and finds it again", async () => {
    const server = await openClient();
    const { engine, timers, messages, changedTo } = await openEngine([server]);
    server.on("engine_forkchoiceUpdatedV3", () => ({ payloadStatus: payloadStatus("VALID"), payloadId: null }));
    const ask = () => engine.forkchoiceUpdated(ForkName.deneb, head());
    await server.stop();
    await expect(ask()).rejects.toThrow(/cannot be asked engine_forkchoiceUpdatedV3: .*ECONNRE/);
    expect(engine.state).toBe("offline");
    await expect(ask()).rejects.toThrow(EngineUnavailableError);
    expect(messages().slice(1)).toEqual(["The execution client is offline"]);

    await server.start();
    const callsBefore = server.calls.length;
    await expect(ask()).rejects.toThrow(EngineUnavailableError);
    expect(server.calls).toHaveLength(callsBefore);
    const back = changedTo("online");
    await timers.advance(1000);
    await back;
    expect(await ask()).toMatchObject({ verdict: { status: "valid" } });
    expect(messages().slice(2)).toEqual(["The execution client is back", "The execution client is synced"]);
  });

  it("asks a client that stays away less and less often", async () => {
    const server = await openClient();
    await server.stop();
    const timers = new NotingTimers();
    const { messages } = await openEngine([server], { timers });
    for (let attempt = 1; attempt <= 9; attempt++) {
      // Each attempt has a time-out, and a pause follows.
      await timers.hasSlept(2 * attempt);
      await timers.advance(timers.slept.at(-1)!);
    }
    const pauses = timers.slept.slice(0, 18).filter((_, position) => position % 2 === 1);
    expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000]);
    expect(messages()).toEqual(["The execution client is offline"]);
  });

  it("tells of a client that stays away again when there is another reason, and of each kind of reason once", async () => {
    const server = await openClient();
    await server.stop();
    const timers = new NotingTimers();
    const { engine, logger } = await openEngine([server], { timers });
    const lookAgain = async () => {
      const { length } = timers.slept;
      await timers.advance(timers.slept.at(-1)!);
      // A time-out, and the pause after the next failure.
      await timers.hasSlept(length + 2);
    };
    await lookAgain();
    await server.start();
    for (const text of ["first", "second"]) {
      server.raw = (_call, response) => response.writeHead(502).end(text);
      await lookAgain();
      // Whoever asks is told the newest.
      await expect(engine.forkchoiceUpdated(ForkName.deneb, head())).rejects.toThrow(text);
    }
    server.raw = (_call, response) => response.writeHead(401).end();
    await lookAgain();
    await server.stop();
    await lookAgain();
    const told = logger.records.map(({ message, fields }) => [message, fields?.reason]);
    expect(told).toEqual([
      ["The execution client is offline", expect.stringContaining("ECONNREFUSED")],
      ["The execution client is offline", expect.stringContaining('502 with "first"')],
      [expect.stringContaining("refuses the token"), undefined],
      ["The execution client is offline", expect.stringContaining("ECONNREFUSED")],
    ]);
  });

  it("looks less and less often for a client that is there and yet fails in a method, until that is answered", async () => {
    const server = await openClient();
    const timers = new NotingTimers();
    const { engine, changedTo } = await openEngine([server], { timers });
    server.on("engine_forkchoiceUpdatedV3", () => ({ payloadStatus: payloadStatus("VALID"), payloadId: null }));
    server.on("engine_newPayloadV3", () => payloadStatus("VALID"));
    const judge = () => engine.notifyNewPayload(ForkName.deneb, samplePayload(ForkName.deneb), payloadContext);
    const pauses: number[] = [];
    const failAndReturn = async () => {
      const { length } = timers.slept;
      server.onRaw("engine_newPayloadV3", (_call, response) => response.writeHead(502).end("<html>"));
      await expect(judge()).rejects.toThrow("HTTP status 502");
      expect(engine.state).toBe("offline");
      // That of the call is the first.
      await timers.hasSlept(length + 2);
      pauses.push(timers.slept.at(-1)!);
      const back = changedTo("online");
      await timers.advance(timers.slept.at(-1)!);
      await back;
      await engine.forkchoiceUpdated(ForkName.deneb, head());
    };
    for (let time = 0; time < 9; time++) await failAndReturn();
    expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000]);
    server.onRaw("engine_newPayloadV3", null);
    await judge();
    await failAndReturn();
    expect(pauses.at(-1)).toBe(100);
  });

  it("says when the client refuses its token, and goes on when it takes that of a mended secret", async () => {
    const server = await openClient();
    server.raw = (_call, response) => response.writeHead(401).end("signature is invalid");
    let secret: Uint8Array = new Uint8Array(32);
    const { engine, timers, messages, changedTo } = await openEngine([server], { jwtSecret: () => secret });
    expect(engine.state).toBe("unauthorized");
    expect(messages()).toEqual([
      "The execution client refuses the token: does --jwt-secret name the same file as the execution client's?",
    ]);
    secret = SECRET;
    server.raw = null;
    const back = changedTo("online");
    await timers.advance(1000);
    await back;
    expect(messages().slice(1)).toEqual(["The execution client is connected"]);
    const [token, signature] = server.calls
      .at(-1)!
      .authorization!.replace("Bearer ", "")
      .split(/\.(?=[^.]*$)/);
    expect(signature).toBe(createHmac("sha256", SECRET).update(token!).digest("base64url"));
  });

  it("does not take a slow client for one that is away, unless it does not answer simple questions either", async () => {
    const server = await openClient();
    const { engine, timers, changedTo } = await openEngine([server]);
    server.on("engine_newPayloadV3", () => new Promise(() => {}));
    const ask = async () => {
      const received = server.received("engine_newPayloadV3");
      const asked = server.received("engine_exchangeCapabilities");
      const late = engine.notifyNewPayload(ForkName.deneb, samplePayload(ForkName.deneb), payloadContext);
      const refused = expect(late).rejects.toThrow("did not answer engine_newPayloadV3 within 8 s");
      await received;
      await timers.advance(8000);
      await refused;
      await asked;
    };
    const versionAsked = server.received("engine_getClientVersionV1");
    await ask();
    await versionAsked;
    expect(engine.state).toBe("online");
    server.on("engine_exchangeCapabilities", () => new Promise(() => {}));
    await ask();
    const away = changedTo("offline");
    await timers.advance(1000);
    await away;
    expect(engine.callCounts()).toContainEqual([{ method: "engine_newPayloadV3", outcome: "timed_out" }, 2]);
  });

  it("does not take a client for away that fails to give blobs, which it need not have", async () => {
    const server = await openClient();
    server.on("engine_exchangeCapabilities", () => [...CAPABILITIES, "engine_getBlobsV1"]);
    server.onRaw("engine_getBlobsV1", (_call, response) => response.writeHead(502).end("<html>"));
    const { engine, messages } = await openEngine([server]);
    const isChecked = server.received("engine_getClientVersionV1");
    await expect(engine.getBlobs(ForkName.deneb, [])).rejects.toThrow("HTTP status 502");
    await isChecked;
    expect(engine.state).toBe("online");
    expect(messages()).toEqual(["The execution client is connected"]);
  });

  it("asks who the client is when another one may have taken its place between two calls", async () => {
    const server = await openClient();
    const { engine, logger } = await openEngine([server]);
    const tell = () => engine.forkchoiceUpdated(ForkName.deneb, head());
    server.on("engine_forkchoiceUpdatedV3", () => ({ payloadStatus: payloadStatus("VALID"), payloadId: null }));
    await tell();
    await server.stop();
    server.on("engine_getClientVersionV1", () => [
      { code: "NM", name: "Nethermind", version: "v1", commit: "12345678" },
    ]);
    server.on("eth_chainId", () => "0x1");
    await server.start();
    await tell();
    await vi.waitFor(() => expect(engine.clientVersion).toMatchObject({ name: "Nethermind" }));
    expect(engine.state).toBe("synced");
    expect(logger.records.at(-1)).toMatchObject({ level: "error", fields: { chainId: 1 } });
    await tell();
    expect(server.methods.filter((method) => method === "engine_getClientVersionV1")).toHaveLength(2);
  });

  it("has the next client answer when one fails, and returns to the first when it is back", async () => {
    const [first, second] = [await openClient(), await openClient()];
    const { engine, timers, messages, changedTo } = await openEngine([first, second]);
    const answer = ([, attributes]: unknown[]) => ({
      payloadStatus: payloadStatus("VALID"),
      payloadId: attributes === null ? null : "0x0000000000000001",
    });
    for (const server of [first, second]) {
      server.on("engine_forkchoiceUpdatedV3", answer);
      server.on("engine_getPayloadV3", () => builtJson(ForkName.deneb));
    }
    const build = () => engine.forkchoiceUpdated(ForkName.deneb, head(), payloadRequest(ForkName.deneb));
    const ofFirst = (await build()).payloadId!;
    await first.stop();
    const ofSecond = (await build()).payloadId!;
    expect(engine.state).toBe("synced");
    expect(messages().slice(3)).toEqual([
      "The execution client is offline",
      "Another execution client is used from now on",
      "The execution client is synced",
    ]);
    expect((await engine.getPayload(ForkName.deneb, ofSecond)).payload.blockNumber).toBe(16);
    await expect(engine.getPayload(ForkName.deneb, ofFirst)).rejects.toThrow(EngineUnavailableError);

    await first.start();
    const back = changedTo("online");
    await timers.advance(1000);
    await back;
    await engine.forkchoiceUpdated(ForkName.deneb, head(OTHER_HASH));
    expect(first.calls.at(-1)!.params[0]).toMatchObject({ headBlockHash: OTHER_HASH });
    // What the second one builds stays with it.
    await engine.getPayload(ForkName.deneb, ofSecond);
    expect(messages().filter((message) => message.startsWith("Another execution client"))).toHaveLength(2);
    expect(second.methods.filter((method) => method === "engine_getPayloadV3")).toHaveLength(2);
    expect(first.methods).not.toContain("engine_getPayloadV3");
  });

  it("says once that the client is of another chain, and what it lacks", async () => {
    const server = await openClient();
    server.on("eth_chainId", () => "0x1");
    server.on("engine_exchangeCapabilities", () => CAPABILITIES.filter((name) => name !== "engine_getPayloadV5"));
    const { engine, logger } = await openEngine([server]);
    expect(engine.state).toBe("online");
    expect(logger.records.slice(1)).toMatchObject([
      {
        level: "error",
        message: "The execution client is of another chain: its chain id is not that of this network",
        fields: { chainId: 1, expected: 1337 },
      },
      { level: "warn", fields: { missing: "engine_getPayloadV5" } },
    ]);
  });

  it("says that the client has another genesis block", async () => {
    const { logger } = await openEngine([await openClient()], { genesisBlockHash: HASH });
    expect(logger.records.at(-1)).toMatchObject({
      level: "error",
      fields: { genesis: GENESIS_HASH, expected: HASH },
    });
  });

  it("does without what a client need not know", async () => {
    const server = await openClient();
    for (const method of ["engine_exchangeCapabilities", "eth_chainId", "engine_getClientVersionV1"]) {
      server.on(method, () => {
        throw new ScriptedError(-32601, "no such method");
      });
    }
    const { engine, messages } = await openEngine([server]);
    expect([engine.state, engine.clientVersion]).toEqual(["online", null]);
    expect(messages()).toEqual(["The execution client is connected"]);
  });

  it.each<[what: string, status: number | null]>([
    ["a page instead of an answer", 500],
    ["a refusal of whoever asks", 403],
    ["silence", null],
  ])("does without it, too, where something gives %s to it alone", async (_what, status) => {
    for (const method of ["eth_chainId", "eth_getBlockByNumber", "engine_getClientVersionV1"]) {
      const server = await openClient();
      server.onRaw(method, (_call, response) => {
        if (status !== null) response.writeHead(status).end("<html>");
      });
      const timers = new FakeTimers();
      const asked = server.received(method);
      const opening = openEngine([server], { timers });
      await asked;
      if (status === null) await timers.advance(5000);
      const { engine, messages } = await opening;
      expect({ method, state: engine.state, messages: messages() }).toEqual({
        method,
        state: "online",
        messages: ["The execution client is connected"],
      });
    }
  });
});
