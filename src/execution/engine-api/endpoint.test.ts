import { createHmac } from "node:crypto";
import { ForkName } from "@lodestar/params";
import { describe, expect, it, vi } from "vitest";
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
} from "../../../test/support/execution/engine-api/engine-api.ts";
import { samplePayload } from "../../../test/support/execution/engine-api/sample-payload.ts";
import { ScriptedError } from "../../../test/support/execution/scripted-server.ts";
import { FakeTimers } from "../../../test/support/time/fake-timers.ts";
import { type EngineState, EngineUnavailableError } from "../engine.ts";

describe("Endpoint", () => {
  it("authenticates with a fresh JWT and reads the client version", async () => {
    const server = await openClient();
    const { engine, timers, messages } = await openEngine([server]);
    expect(engine.state).toBe("online");
    expect(engine.clientVersion).toEqual({ code: "GE", name: "Geth", version: "v1.16.0", commit: "0x12345678" });
    expect(messages()).toEqual(["Execution client connected"]);

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

  it("derives the state from responses and logs each change once", async () => {
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
    // Neither a valid payload nor a valid former head ends the syncing state.
    expect(states).toEqual(["syncing"]);
    await engine.forkchoiceUpdated(ForkName.deneb, head());
    for (word of ["VALID", "ACCEPTED", "INVALID"]) await ask();
    expect(states).toEqual(["syncing", "synced"]);
    expect(messages().slice(1)).toEqual(["Execution client is syncing", "Execution client is synced"]);
  });

  it("detects an offline client, fails fast meanwhile, and reconnects", async () => {
    const server = await openClient();
    const { engine, timers, messages, changedTo } = await openEngine([server]);
    server.on("engine_forkchoiceUpdatedV3", () => ({ payloadStatus: payloadStatus("VALID"), payloadId: null }));
    const ask = () => engine.forkchoiceUpdated(ForkName.deneb, head());
    await server.stop();
    await expect(ask()).rejects.toThrow(/Cannot call engine_forkchoiceUpdatedV3 at .*ECONNRE/);
    expect(engine.state).toBe("offline");
    await expect(ask()).rejects.toThrow(EngineUnavailableError);
    expect(messages().slice(1)).toEqual(["Execution client is offline"]);

    await server.start();
    const callsBefore = server.calls.length;
    await expect(ask()).rejects.toThrow(EngineUnavailableError);
    expect(server.calls).toHaveLength(callsBefore);
    const back = changedTo("online");
    await timers.advance(1000);
    await back;
    expect(await ask()).toMatchObject({ verdict: { status: "valid" } });
    expect(messages().slice(2)).toEqual(["Execution client reconnected", "Execution client is synced"]);
  });

  it("retries an offline client with backoff", async () => {
    const server = await openClient();
    await server.stop();
    const timers = new NotingTimers();
    const { messages } = await openEngine([server], { timers });
    for (let attempt = 1; attempt <= 9; attempt++) {
      // Each attempt times out and is followed by a backoff.
      await timers.hasSlept(2 * attempt);
      await timers.advance(timers.slept.at(-1)!);
    }
    const pauses = timers.slept.slice(0, 18).filter((_, position) => position % 2 === 1);
    expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000]);
    expect(messages()).toEqual(["Execution client is offline"]);
  });

  it("logs each kind of failure of an offline client once", async () => {
    const server = await openClient();
    await server.stop();
    const timers = new NotingTimers();
    const { engine, logger } = await openEngine([server], { timers });
    const lookAgain = async () => {
      const { length } = timers.slept;
      await timers.advance(timers.slept.at(-1)!);
      // One timeout, followed by the backoff after the next failure.
      await timers.hasSlept(length + 2);
    };
    await lookAgain();
    await server.start();
    for (const text of ["first", "second"]) {
      server.raw = (_call, response) => response.writeHead(502).end(text);
      await lookAgain();
      // Calls fail with the latest reason.
      await expect(engine.forkchoiceUpdated(ForkName.deneb, head())).rejects.toThrow(text);
    }
    server.raw = (_call, response) => response.writeHead(401).end();
    await lookAgain();
    await server.stop();
    await lookAgain();
    const logged = logger.records.map(({ message, fields }) => [message, fields?.reason]);
    expect(logged).toEqual([
      ["Execution client is offline", expect.stringContaining("ECONNREFUSED")],
      ["Execution client is offline", expect.stringContaining('502 with "first"')],
      [expect.stringContaining("rejected the JWT"), undefined],
      ["Execution client is offline", expect.stringContaining("ECONNREFUSED")],
    ]);
  });

  it("increases the backoff for a client that keeps failing in one method", async () => {
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
      // The call itself accounts for the first entry.
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

  it("logs a rejected JWT, and continues after the secret is fixed", async () => {
    const server = await openClient();
    server.raw = (_call, response) => response.writeHead(401).end("signature is invalid");
    let secret: Uint8Array = new Uint8Array(32);
    const { engine, timers, messages, changedTo } = await openEngine([server], { jwtSecret: () => secret });
    expect(engine.state).toBe("unauthorized");
    expect(messages()).toEqual([
      "Execution client rejected the JWT: --jwt-secret must name the same file as the execution client's",
    ]);
    secret = SECRET;
    server.raw = null;
    const back = changedTo("online");
    await timers.advance(1000);
    await back;
    expect(messages().slice(1)).toEqual(["Execution client connected"]);
    const [token, signature] = server.calls
      .at(-1)!
      .authorization!.replace("Bearer ", "")
      .split(/\.(?=[^.]*$)/);
    expect(signature).toBe(createHmac("sha256", SECRET).update(token!).digest("base64url"));
  });

  it("treats a slow client as offline only if the handshake times out too", async () => {
    const server = await openClient();
    const { engine, timers, changedTo } = await openEngine([server]);
    server.on("engine_newPayloadV3", () => new Promise(() => {}));
    const ask = async () => {
      const received = server.received("engine_newPayloadV3");
      const probed = server.received("engine_exchangeCapabilities");
      const late = engine.notifyNewPayload(ForkName.deneb, samplePayload(ForkName.deneb), payloadContext);
      const refused = expect(late).rejects.toThrow("did not respond to engine_newPayloadV3 within 8 s");
      await received;
      await timers.advance(8000);
      await refused;
      await probed;
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

  it("does not treat a client that fails to return blobs as offline", async () => {
    const server = await openClient();
    server.on("engine_exchangeCapabilities", () => [...CAPABILITIES, "engine_getBlobsV1"]);
    server.onRaw("engine_getBlobsV1", (_call, response) => response.writeHead(502).end("<html>"));
    const { engine, messages } = await openEngine([server]);
    const isChecked = server.received("engine_getClientVersionV1");
    await expect(engine.getBlobs(ForkName.deneb, [])).rejects.toThrow("HTTP status 502");
    await isChecked;
    expect(engine.state).toBe("online");
    expect(messages()).toEqual(["Execution client connected"]);
  });

  it("repeats the handshake after a reconnect", async () => {
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

  it("fails over to the next client, and returns to the first when it is back", async () => {
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
      "Execution client is offline",
      "Switched execution client",
      "Execution client is synced",
    ]);
    expect((await engine.getPayload(ForkName.deneb, ofSecond)).payload.blockNumber).toBe(16);
    await expect(engine.getPayload(ForkName.deneb, ofFirst)).rejects.toThrow(EngineUnavailableError);

    await first.start();
    const back = changedTo("online");
    await timers.advance(1000);
    await back;
    await engine.forkchoiceUpdated(ForkName.deneb, head(OTHER_HASH));
    expect(first.calls.at(-1)!.params[0]).toMatchObject({ headBlockHash: OTHER_HASH });
    // Payloads are still fetched from the second client if it issued the id.
    await engine.getPayload(ForkName.deneb, ofSecond);
    expect(messages().filter((message) => message.startsWith("Switched execution client"))).toHaveLength(2);
    expect(second.methods.filter((method) => method === "engine_getPayloadV3")).toHaveLength(2);
    expect(first.methods).not.toContain("engine_getPayloadV3");
  });

  it("logs a chain id mismatch and missing methods once", async () => {
    const server = await openClient();
    server.on("eth_chainId", () => "0x1");
    server.on("engine_exchangeCapabilities", () => CAPABILITIES.filter((name) => name !== "engine_getPayloadV5"));
    const { engine, logger } = await openEngine([server]);
    expect(engine.state).toBe("online");
    expect(logger.records.slice(1)).toMatchObject([
      {
        level: "error",
        message: "Execution client is on another chain: chain id mismatch",
        fields: { chainId: 1, expected: 1337 },
      },
      { level: "warn", fields: { missing: "engine_getPayloadV5" } },
    ]);
  });

  it("logs a genesis block mismatch", async () => {
    const { logger } = await openEngine([await openClient()], { genesisBlockHash: HASH });
    expect(logger.records.at(-1)).toMatchObject({
      level: "error",
      fields: { genesis: GENESIS_HASH, expected: HASH },
    });
  });

  it("tolerates missing optional methods", async () => {
    const server = await openClient();
    for (const method of ["engine_exchangeCapabilities", "eth_chainId", "engine_getClientVersionV1"]) {
      server.on(method, () => {
        throw new ScriptedError(-32601, "no such method");
      });
    }
    const { engine, messages } = await openEngine([server]);
    expect([engine.state, engine.clientVersion]).toEqual(["online", null]);
    expect(messages()).toEqual(["Execution client connected"]);
  });

  it.each<[what: string, status: number | null]>([
    ["a page instead of an answer", 500],
    ["a general refusal", 403],
    ["silence", null],
  ])("tolerates %s for optional methods only", async (_what, status) => {
    for (const method of ["eth_chainId", "eth_getBlockByNumber", "engine_getClientVersionV1"]) {
      const server = await openClient();
      server.onRaw(method, (_call, response) => {
        if (status !== null) response.writeHead(status).end("<html>");
      });
      const timers = new FakeTimers();
      const requested = server.received(method);
      const opening = openEngine([server], { timers });
      await requested;
      if (status === null) await timers.advance(5000);
      const { engine, messages } = await opening;
      expect({ method, state: engine.state, messages: messages() }).toEqual({
        method,
        state: "online",
        messages: ["Execution client connected"],
      });
    }
  });
});
