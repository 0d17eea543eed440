import { createHmac } from "node:crypto";
import { createChainForkConfig, defaultChainConfig } from "@lodestar/config";
import { ForkName, type ForkPostBellatrix } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { afterEach, describe, expect, it } from "vitest";
import { createRecordingLogger } from "../../log/recording-logger.test-support.ts";
import { HandTimers } from "../../timers.test-support.ts";
import { type EngineState, EngineUnavailableError, type PayloadRequest, PayloadUnavailableError } from "../engine.ts";
import { ScriptedError, ScriptedServer } from "../scripted-server.test-support.ts";
import { EngineApi } from "./engine-api.ts";
import { samplePayload, samplePayloadJson } from "./sample-payload.test-support.ts";

const SECRET = fromHex(`0x${"5e".repeat(32)}`);
const HASH = `0x${"aa".repeat(32)}`;
const OTHER_HASH = `0x${"bb".repeat(32)}`;
const GENESIS_HASH = `0x${"99".repeat(32)}`;
const ZERO_HASH = `0x${"00".repeat(32)}`;

/** A chain of every fork from bellatrix to fulu. */
const config = createChainForkConfig({
  ...defaultChainConfig,
  DEPOSIT_CHAIN_ID: 1337,
  TERMINAL_TOTAL_DIFFICULTY: 100n,
  ALTAIR_FORK_EPOCH: 0,
  BELLATRIX_FORK_EPOCH: 0,
  CAPELLA_FORK_EPOCH: 1,
  DENEB_FORK_EPOCH: 2,
  ELECTRA_FORK_EPOCH: 3,
  FULU_FORK_EPOCH: 4,
  GLOAS_FORK_EPOCH: Number.POSITIVE_INFINITY,
});
const CAPABILITIES = [
  ..."1234".split("").map((version) => `engine_newPayloadV${version}`),
  ..."123".split("").map((version) => `engine_forkchoiceUpdatedV${version}`),
  ..."12345".split("").map((version) => `engine_getPayloadV${version}`),
];

const status = (word: string, more: object = {}) => ({
  status: word,
  latestValidHash: null,
  validationError: null,
  ...more,
});

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function openClient(): Promise<ScriptedServer> {
  const server = await new ScriptedServer({
    engine_exchangeCapabilities: () => CAPABILITIES,
    eth_chainId: () => "0x539",
    eth_getBlockByNumber: () => ({ hash: GENESIS_HASH }),
    engine_getClientVersionV1: () => [{ code: "GE", name: "Geth", version: "v1.16.0", commit: "12345678" }],
  }).start();
  opened.push(() => server.stop());
  return server;
}

/** Takes note of what is waited for. */
class NotingTimers extends HandTimers {
  readonly slept: number[] = [];
  #onSleep = () => {};

  override sleep(ms: number, signal: AbortSignal): Promise<void> {
    this.slept.push(ms);
    this.#onSleep();
    return super.sleep(ms, signal);
  }

  async hasSlept(times: number): Promise<void> {
    while (this.slept.length < times) {
      await new Promise<void>((resolve) => {
        this.#onSleep = resolve;
      });
    }
  }
}

interface EngineOptions {
  genesisBlockHash?: string;
  jwtSecret?: () => Uint8Array;
  timers?: HandTimers;
}

async function openEngine(servers: ScriptedServer[], options: EngineOptions = {}) {
  const { timers = new HandTimers() } = options;
  const logger = createRecordingLogger();
  const urls = servers.map(({ url }) => url);
  const engine = new EngineApi({ urls, jwtSecret: () => SECRET, config, logger, ...options, timers });
  opened.push(() => engine.close());
  await engine.connect();
  const messages = () => logger.records.map(({ message }) => message);
  const changedTo = (wanted: EngineState) =>
    new Promise<void>((resolve) => {
      const end = engine.onStateChange((state) => {
        if (state !== wanted) return;
        end();
        resolve();
      });
    });
  return { engine, timers, logger, messages, changedTo };
}

const head = (headBlockHash = HASH) => ({ headBlockHash, safeBlockHash: ZERO_HASH, finalizedBlockHash: ZERO_HASH });

const request = (fork: ForkPostBellatrix): PayloadRequest => ({
  fork,
  slot: 9,
  parent: { blockHash: fromHex(HASH), blockNumber: 6 },
  parentBeaconBlockRoot: new Uint8Array(32).fill(1),
  timestamp: 255,
  prevRandao: new Uint8Array(32).fill(2),
  feeRecipient: new Uint8Array(20).fill(3),
  withdrawals: [{ index: 1, validatorIndex: 2, address: new Uint8Array(20).fill(4), amount: 5n }],
});

const context = {
  parentBeaconBlockRoot: new Uint8Array(32).fill(1),
  versionedHashes: [new Uint8Array(32).fill(2)],
  executionRequests: ssz.electra.ExecutionRequests.defaultValue(),
};

const FORKS: [ForkPostBellatrix, newPayload: number, forkchoiceUpdated: number, getPayload: number][] = [
  [ForkName.bellatrix, 1, 1, 1],
  [ForkName.capella, 2, 2, 2],
  [ForkName.deneb, 3, 3, 3],
  [ForkName.electra, 4, 3, 4],
  [ForkName.fulu, 4, 3, 5],
];

describe("EngineApi", () => {
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

    await timers.pass(60_000);
    server.on("engine_forkchoiceUpdatedV3", () => ({ payloadStatus: status("VALID"), payloadId: null }));
    await engine.forkchoiceUpdated(ForkName.deneb, head());
    const later = server.calls.at(-1)!.authorization!.split(".")[1];
    expect(read(later)).toEqual({ iat: Math.floor(timers.unixNow() / 1000) });
  });

  it.each(FORKS)("speaks the versions of %s", async (fork, newPayload, forkchoiceUpdated, getPayload) => {
    const server = await openClient();
    const { engine } = await openEngine([server]);
    const { executionPayload, ...bundle } = builtJson(fork);
    server.on(`engine_newPayloadV${newPayload}`, () => status("VALID", { latestValidHash: HASH }));
    server.on(`engine_forkchoiceUpdatedV${forkchoiceUpdated}`, ([, attributes]) => ({
      payloadStatus: status("VALID", { latestValidHash: HASH }),
      payloadId: attributes === null ? null : "0x0000000000000007",
    }));
    server.on(`engine_getPayloadV${getPayload}`, () =>
      fork === ForkName.bellatrix ? executionPayload : { executionPayload, ...bundle },
    );

    expect(await engine.notifyNewPayload(fork, samplePayload(fork), context)).toEqual({ status: "valid" });
    const hashes = [`0x${"02".repeat(32)}`];
    const root = `0x${"01".repeat(32)}`;
    const wanted = {
      1: [samplePayloadJson(fork)],
      2: [samplePayloadJson(fork)],
      3: [samplePayloadJson(fork), hashes, root],
      4: [samplePayloadJson(fork), hashes, root, []],
    };
    expect(server.calls.at(-1)!.params).toEqual(wanted[newPayload as 1]);

    expect(await engine.forkchoiceUpdated(fork, head())).toEqual({ verdict: { status: "valid" }, payloadId: null });
    expect(server.calls.at(-1)!.params).toEqual([head(), null]);
    const { payloadId } = await engine.forkchoiceUpdated(fork, head(), request(fork));
    expect(server.calls.at(-1)!.params[1]).toEqual({
      timestamp: "0xff",
      prevRandao: `0x${"02".repeat(32)}`,
      suggestedFeeRecipient: `0x${"03".repeat(20)}`,
      ...(forkchoiceUpdated >= 2 && {
        withdrawals: [{ index: "0x1", validatorIndex: "0x2", address: `0x${"04".repeat(20)}`, amount: "0x5" }],
      }),
      ...(forkchoiceUpdated >= 3 && { parentBeaconBlockRoot: root }),
    });

    const built = await engine.getPayload(fork, payloadId!);
    expect(server.calls.at(-1)!.params).toEqual(["0x0000000000000007"]);
    expect(built.payload).toEqual(samplePayload(fork));
    expect(built.value).toBe(fork === ForkName.bellatrix ? 0n : 2n ** 70n);
    expect(built.blobsBundle?.proofs.length).toBe(getPayload < 3 ? undefined : getPayload < 5 ? 1 : 128);
    expect(built.shouldOverrideBuilder).toBe(getPayload < 3 ? undefined : true);
    expect(built.executionRequests?.withdrawals.length).toBe(getPayload < 4 ? undefined : 1);
  });

  it("does not speak what comes after fulu", async () => {
    const { engine } = await openEngine([await openClient()]);
    await expect(engine.forkchoiceUpdated(ForkName.gloas, head())).rejects.toThrow("fulu is the last fork");
  });

  it("asks one thing after the other, and only the newest of waiting heads", async () => {
    const server = await openClient();
    const { engine } = await openEngine([server]);
    const heads: unknown[] = [];
    const first = Promise.withResolvers<void>();
    server.on("engine_newPayloadV2", async () => {
      heads.push("payload");
      await first.promise;
      return status("VALID");
    });
    server.on("engine_forkchoiceUpdatedV2", ([state, attributes]) => {
      heads.push([(state as { headBlockHash: string }).headBlockHash, attributes !== null]);
      return { payloadStatus: status("VALID"), payloadId: attributes === null ? null : "0x0000000000000001" };
    });
    server.on("engine_getPayloadV2", () => builtJson(ForkName.capella));

    const received = server.received("engine_newPayloadV2");
    const payload = engine.notifyNewPayload(ForkName.capella, samplePayload(ForkName.capella), {});
    const overtaken = engine.forkchoiceUpdated(ForkName.capella, head(HASH));
    const newest = engine.forkchoiceUpdated(ForkName.capella, head(OTHER_HASH));
    const building = engine.forkchoiceUpdated(ForkName.capella, head(HASH), request(ForkName.capella));
    const last = engine.forkchoiceUpdated(ForkName.capella, head(OTHER_HASH));
    await received;
    // Payloads that are built already do not wait for any of that.
    expect((await engine.getPayload(ForkName.capella, "0:0x0000000000000001")).payload.blockNumber).toBe(16);
    expect(heads).toEqual(["payload"]);
    first.resolve();
    expect(await payload).toEqual({ status: "valid" });
    expect(await overtaken).toEqual({ verdict: { status: "optimistic" }, payloadId: null });
    expect(await newest).toEqual({ verdict: { status: "valid" }, payloadId: null });
    expect((await building).payloadId).not.toBeNull();
    await last;
    expect(heads).toEqual(["payload", [OTHER_HASH, false], [HASH, true], [OTHER_HASH, false]]);
  });

  it("goes on after a call that failed", async () => {
    const server = await openClient();
    const { engine } = await openEngine([server]);
    server.on("engine_forkchoiceUpdatedV3", () => {
      throw new ScriptedError(-38002, "Invalid forkchoice state");
    });
    server.on("engine_newPayloadV3", () => status("VALID"));
    const refused = engine.forkchoiceUpdated(ForkName.deneb, head());
    const taken = engine.notifyNewPayload(ForkName.deneb, samplePayload(ForkName.deneb), context);
    await expect(refused).rejects.toThrow(EngineUnavailableError);
    await expect(refused).rejects.toThrow(
      `${server.url} refuses engine_forkchoiceUpdatedV3: Invalid forkchoice state (code -38002).`,
    );
    expect(await taken).toEqual({ status: "valid" });
    expect(engine.state).toBe("synced");
  });

  it("tells an unknown payload from an engine that cannot be asked, and does not guess at answers", async () => {
    const server = await openClient();
    const { engine } = await openEngine([server]);
    server.on("engine_getPayloadV4", () => {
      throw new ScriptedError(-38001, "Unknown payload");
    });
    const id = "0:0x0000000000000001";
    await expect(engine.getPayload(ForkName.electra, id)).rejects.toThrow(PayloadUnavailableError);
    await expect(engine.getPayload(ForkName.electra, "7:0x00")).rejects.toThrow("No execution client has given");
    server.on("engine_getPayloadV4", () => ({ ...builtJson(ForkName.electra), blockValue: 5 }));
    const failure = engine.getPayload(ForkName.electra, id);
    await expect(failure).rejects.toThrow(EngineUnavailableError);
    await expect(failure).rejects.toThrow(
      `${server.url} gave no usable answer to engine_getPayloadV4: result.blockValue must be a quantity of at most 256 bits such as 0x1f, and is 5.`,
    );
    expect(engine.state).toBe("online");
  });

  it("follows how the client is by its answers, and tells once of each change", async () => {
    const server = await openClient();
    const { engine, messages } = await openEngine([server]);
    const states: EngineState[] = [];
    engine.onStateChange((state) => states.push(state));
    let word = "SYNCING";
    server.on("engine_newPayloadV3", () => status(word));
    server.on("engine_forkchoiceUpdatedV3", () => ({ payloadStatus: status(word), payloadId: null }));
    const ask = () => engine.notifyNewPayload(ForkName.deneb, samplePayload(ForkName.deneb), context);
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
    server.on("engine_forkchoiceUpdatedV3", () => ({ payloadStatus: status("VALID"), payloadId: null }));
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
    await timers.pass(1000);
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
      await timers.pass(timers.slept.at(-1)!);
    }
    const pauses = timers.slept.slice(0, 18).filter((_, position) => position % 2 === 1);
    expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000]);
    expect(messages()).toEqual(["The execution client is offline"]);
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
    await timers.pass(1000);
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
      const late = engine.notifyNewPayload(ForkName.deneb, samplePayload(ForkName.deneb), context);
      const refused = expect(late).rejects.toThrow("did not answer engine_newPayloadV3 within 8 s");
      await received;
      await timers.pass(8000);
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
    await timers.pass(1000);
    await away;
    expect(engine.callCounts()).toContainEqual([{ method: "engine_newPayloadV3", outcome: "timed_out" }, 2]);
  });

  it("has the next client answer when one fails, and returns to the first when it is back", async () => {
    const [first, second] = [await openClient(), await openClient()];
    const { engine, timers, messages, changedTo } = await openEngine([first, second]);
    const answer = ([, attributes]: unknown[]) => ({
      payloadStatus: status("VALID"),
      payloadId: attributes === null ? null : "0x0000000000000001",
    });
    for (const server of [first, second]) {
      server.on("engine_forkchoiceUpdatedV3", answer);
      server.on("engine_getPayloadV3", () => builtJson(ForkName.deneb));
    }
    const build = () => engine.forkchoiceUpdated(ForkName.deneb, head(), request(ForkName.deneb));
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
    await timers.pass(1000);
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

  it("finds the terminal block on the client's chain", async () => {
    const server = await openClient();
    const genesis = { hash: GENESIS_HASH, parentHash: ZERO_HASH, number: "0x0", difficulty: "0x64" };
    server.on("eth_getBlockByNumber", () => ({ ...genesis, totalDifficulty: "0x64" }));
    server.on("eth_getBlockByHash", ([hash]) => (hash === GENESIS_HASH ? genesis : null));
    const { engine } = await openEngine([server]);
    const terminal = await engine.terminalBlock();
    expect(terminal).toEqual({ blockHash: fromHex(GENESIS_HASH), blockNumber: 0 });
    expect(await engine.judgeTerminalBlock(toRootHex(fromHex(HASH)))).toBe("unknown");
  });

  it("fetches blobs from the client's pool", async () => {
    const server = await openClient();
    const { engine } = await openEngine([server]);
    server.on("engine_getBlobsV1", ([hashes]) => (hashes as string[]).map(() => null));
    server.on("engine_getBlobsV2", () => null);
    expect(await engine.getBlobs([fromHex(HASH)])).toEqual([null]);
    expect(await engine.getBlobsWithCellProofs([fromHex(HASH)])).toBeNull();
    expect(server.calls.at(-1)!.params).toEqual([[HASH]]);
  });
});

/** What a client has built, as it answers getPayload from V2 on; parts that a version does not have are left over. */
function builtJson(fork: ForkPostBellatrix) {
  return {
    executionPayload: samplePayloadJson(fork),
    blockValue: `0x400000000000000000`,
    blobsBundle: {
      commitments: [`0x${"c0".repeat(48)}`],
      proofs: Array.from({ length: fork === ForkName.fulu ? 128 : 1 }, () => `0x${"b0".repeat(48)}`),
      blobs: [`0x${"11".repeat(131_072)}`],
    },
    shouldOverrideBuilder: true,
    executionRequests: [`0x01${"01".repeat(20)}${"02".repeat(48)}0300000000000000`],
  };
}
