import { ForkName, type ForkPostBellatrix } from "@lodestar/params";
import type { gloas } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import {
  builtJson,
  CAPABILITIES,
  GENESIS_HASH,
  HASH,
  head,
  OTHER_HASH,
  openClient,
  openEngine,
  payloadContext,
  payloadRequest,
  payloadStatus,
  ZERO_HASH,
} from "../../../test/support/execution/engine-api/engine-api.ts";
import { samplePayload, samplePayloadJson } from "../../../test/support/execution/engine-api/sample-payload.ts";
import { ScriptedError } from "../../../test/support/execution/scripted-server.ts";
import { EngineUnavailableError, PayloadUnavailableError } from "../engine.ts";

const FORKS: [ForkPostBellatrix, newPayload: number, forkchoiceUpdated: number, getPayload: number][] = [
  [ForkName.bellatrix, 1, 1, 1],
  [ForkName.capella, 2, 2, 2],
  [ForkName.deneb, 3, 3, 3],
  [ForkName.electra, 4, 3, 4],
  [ForkName.fulu, 4, 3, 5],
  [ForkName.gloas, 5, 4, 6],
];

describe("EngineApi", () => {
  it.each(FORKS)("uses the method versions of %s", async (fork, newPayload, forkchoiceUpdated, getPayload) => {
    const server = await openClient();
    const { engine } = await openEngine([server]);
    const { executionPayload, ...bundle } = builtJson(fork);
    server.on(`engine_newPayloadV${newPayload}`, () => payloadStatus("VALID", { latestValidHash: HASH }));
    server.on(`engine_forkchoiceUpdatedV${forkchoiceUpdated}`, ([, attributes]) => ({
      payloadStatus: payloadStatus("VALID", { latestValidHash: HASH }),
      payloadId: attributes === null ? null : "0x0000000000000007",
    }));
    server.on(`engine_getPayloadV${getPayload}`, () =>
      fork === ForkName.bellatrix ? executionPayload : { executionPayload, ...bundle },
    );

    expect(await engine.notifyNewPayload(fork, samplePayload(fork), payloadContext)).toEqual({ status: "valid" });
    const hashes = [`0x${"02".repeat(32)}`];
    const root = `0x${"01".repeat(32)}`;
    const wanted = {
      1: [samplePayloadJson(fork)],
      2: [samplePayloadJson(fork)],
      3: [samplePayloadJson(fork), hashes, root],
      4: [samplePayloadJson(fork), hashes, root, []],
      5: [samplePayloadJson(fork), hashes, root, []],
    };
    expect(server.calls.at(-1)!.params).toEqual(wanted[newPayload as 1]);

    expect(await engine.forkchoiceUpdated(fork, head())).toEqual({ verdict: { status: "valid" }, payloadId: null });
    const custodyColumns = forkchoiceUpdated >= 4 ? [null] : [];
    expect(server.calls.at(-1)!.params).toEqual([head(), null, ...custodyColumns]);
    const { payloadId } = await engine.forkchoiceUpdated(fork, head(), payloadRequest(fork));
    expect(server.calls.at(-1)!.params[1]).toEqual({
      timestamp: "0xff",
      prevRandao: `0x${"02".repeat(32)}`,
      suggestedFeeRecipient: `0x${"03".repeat(20)}`,
      ...(forkchoiceUpdated >= 2 && {
        withdrawals: [{ index: "0x1", validatorIndex: "0x2", address: `0x${"04".repeat(20)}`, amount: "0x5" }],
      }),
      ...(forkchoiceUpdated >= 3 && { parentBeaconBlockRoot: root }),
      ...(forkchoiceUpdated >= 4 && { slotNumber: "0x9", targetGasLimit: "0x3938700" }),
    });

    const built = await engine.getPayload(fork, payloadId!);
    expect(server.calls.at(-1)!.params).toEqual(["0x0000000000000007"]);
    expect(built.payload).toEqual(samplePayload(fork));
    expect(built.value).toBe(fork === ForkName.bellatrix ? 0n : 2n ** 70n);
    expect(built.blobsBundle?.proofs.length).toBe(getPayload < 3 ? undefined : getPayload < 5 ? 1 : 128);
    expect(built.shouldOverrideBuilder).toBe(getPayload < 3 ? undefined : true);
    expect(built.executionRequests?.withdrawals.length).toBe(getPayload < 4 ? undefined : 1);
  });

  it("rejects forks after gloas, and requests of gloas without a target gas limit", async () => {
    const { engine } = await openEngine([await openClient()]);
    await expect(engine.forkchoiceUpdated(ForkName.heze, head())).rejects.toThrow("The last supported fork is gloas");
    const { targetGasLimit: _, ...request } = payloadRequest(ForkName.gloas);
    await expect(engine.forkchoiceUpdated(ForkName.gloas, head(), request)).rejects.toThrow(
      "A payload request of gloas requires the target gas limit.",
    );
  });

  it("serializes calls, and sends only the newest of queued heads", async () => {
    const server = await openClient();
    const { engine } = await openEngine([server]);
    const heads: unknown[] = [];
    const first = Promise.withResolvers<void>();
    server.on("engine_newPayloadV2", async () => {
      heads.push("payload");
      await first.promise;
      return payloadStatus("VALID");
    });
    server.on("engine_forkchoiceUpdatedV2", ([state, attributes]) => {
      heads.push([(state as { headBlockHash: string }).headBlockHash, attributes !== null]);
      return { payloadStatus: payloadStatus("VALID"), payloadId: attributes === null ? null : "0x0000000000000001" };
    });
    server.on("engine_getPayloadV2", () => builtJson(ForkName.capella));

    const received = server.received("engine_newPayloadV2");
    const payload = engine.notifyNewPayload(ForkName.capella, samplePayload(ForkName.capella), {});
    const overtaken = engine.forkchoiceUpdated(ForkName.capella, head(HASH));
    const newest = engine.forkchoiceUpdated(ForkName.capella, head(OTHER_HASH));
    const building = engine.forkchoiceUpdated(ForkName.capella, head(HASH), payloadRequest(ForkName.capella));
    const last = engine.forkchoiceUpdated(ForkName.capella, head(OTHER_HASH));
    await received;
    // getPayload is not queued behind other calls.
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

  it("continues after a failed call", async () => {
    const server = await openClient();
    const { engine } = await openEngine([server]);
    server.on("engine_forkchoiceUpdatedV3", () => {
      throw new ScriptedError(-38002, "Invalid forkchoice state");
    });
    server.on("engine_newPayloadV3", () => payloadStatus("VALID"));
    const refused = engine.forkchoiceUpdated(ForkName.deneb, head());
    const taken = engine.notifyNewPayload(ForkName.deneb, samplePayload(ForkName.deneb), payloadContext);
    await expect(refused).rejects.toThrow(EngineUnavailableError);
    await expect(refused).rejects.toThrow(
      `${server.url} rejected engine_forkchoiceUpdatedV3: Invalid forkchoice state (code -38002).`,
    );
    expect(await taken).toEqual({ status: "valid" });
    expect(engine.state).toBe("synced");
  });

  it("distinguishes an unknown payload from an unavailable engine, and rejects invalid responses", async () => {
    const server = await openClient();
    const { engine } = await openEngine([server]);
    server.on("engine_getPayloadV4", () => {
      throw new ScriptedError(-38001, "Unknown payload");
    });
    const id = "0:0x0000000000000001";
    await expect(engine.getPayload(ForkName.electra, id)).rejects.toThrow(PayloadUnavailableError);
    await expect(engine.getPayload(ForkName.electra, "7:0x00")).rejects.toThrow("no execution client has issued it");
    server.on("engine_getPayloadV4", () => ({ ...builtJson(ForkName.electra), blockValue: 5 }));
    const failure = engine.getPayload(ForkName.electra, id);
    await expect(failure).rejects.toThrow(EngineUnavailableError);
    await expect(failure).rejects.toThrow(
      `${server.url} returned an invalid response to engine_getPayloadV4: result.blockValue must be a quantity of at most 256 bits such as 0x1f, got 5.`,
    );
    expect(engine.state).toBe("online");
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

  it("fetches blobs from the client's pool with the method of the fork, if supported", async () => {
    const server = await openClient();
    const methods = ["engine_getBlobsV1", "engine_getBlobsV2"];
    server.on("engine_exchangeCapabilities", () => [...CAPABILITIES, ...methods]);
    const { engine } = await openEngine([server]);
    const { blobsBundle } = builtJson(ForkName.fulu);
    const [blob] = blobsBundle.blobs;
    server.on("engine_getBlobsV1", () => [{ blob, proof: blobsBundle.proofs[0] }, null]);
    server.on("engine_getBlobsV2", () => null);
    const hashes = [fromHex(HASH), fromHex(OTHER_HASH)];
    const found = { blob: fromHex(blob!), proofs: [fromHex(blobsBundle.proofs[0]!)] };
    for (const fork of [ForkName.deneb, ForkName.electra] as const) {
      expect(await engine.getBlobs(fork, hashes)).toEqual([found, null]);
    }
    expect(await engine.getBlobs(ForkName.fulu, hashes)).toEqual([null, null]);
    const calls = server.calls.filter(({ method }) => methods.includes(method));
    expect(calls).toMatchObject(
      [1, 1, 2].map((version) => ({ method: `engine_getBlobsV${version}`, params: [[HASH, OTHER_HASH]] })),
    );

    const { engine: withoutBlobs } = await openEngine([await openClient()]);
    expect(await withoutBlobs.getBlobs(ForkName.fulu, hashes)).toEqual([null, null]);
  });

  it("fetches single blobs and cells if the client has such methods", async () => {
    const server = await openClient();
    const methods = ["engine_getBlobsV2", "engine_getBlobsV3", "engine_getBlobsV4"];
    server.on("engine_exchangeCapabilities", () => [...CAPABILITIES, ...methods]);
    const { engine } = await openEngine([server]);
    const { blobsBundle } = builtJson(ForkName.gloas);
    const [blob] = blobsBundle.blobs;
    const hashes = [fromHex(HASH), fromHex(OTHER_HASH)];
    server.on("engine_getBlobsV3", () => [null, { blob, proofs: blobsBundle.proofs }]);
    const [missing, found] = await engine.getBlobs(ForkName.gloas, hashes);
    expect([missing, found?.proofs.length]).toEqual([null, 128]);
    const cell = `0x${"22".repeat(2048)}`;
    const [proof] = blobsBundle.proofs;
    server.on("engine_getBlobsV4", () => [null, { blob_cells: [cell, null], proofs: [proof, null] }]);
    expect(await engine.getCells(hashes, [0, 9])).toEqual([
      null,
      { cells: [fromHex(cell), null], proofs: [fromHex(proof!), null] },
    ]);
    expect(server.calls.at(-1)).toMatchObject({
      method: "engine_getBlobsV4",
      params: [[HASH, OTHER_HASH], `0x0102${"00".repeat(14)}`],
    });
    server.on("engine_getBlobsV4", () => [null, { blob_cells: [cell, cell], proofs: [proof, null] }]);
    await expect(engine.getCells(hashes, [0, 9])).rejects.toThrow("2 cells and 2 proofs; expected 2 of each");
    const { engine: withoutCells } = await openEngine([await openClient()]);
    expect(await withoutCells.getCells(hashes, [0])).toEqual([null, null]);
  });

  it("fetches the bodies of payloads with their access lists", async () => {
    const server = await openClient();
    const methods = ["engine_getPayloadBodiesByHashV2", "engine_getPayloadBodiesByRangeV2"];
    server.on("engine_exchangeCapabilities", () => [...CAPABILITIES, ...methods]);
    const { engine } = await openEngine([server]);
    const { transactions, withdrawals, blockAccessList } = samplePayloadJson(ForkName.gloas);
    const bodies = [{ transactions, withdrawals, blockAccessList }, { transactions: [], withdrawals: null }, null];
    for (const method of methods) server.on(method, () => bodies);
    const { transactions: decoded, ...sample } = samplePayload(ForkName.gloas) as gloas.ExecutionPayload;
    const expected = [
      { transactions: decoded, withdrawals: sample.withdrawals, blockAccessList: sample.blockAccessList },
      { transactions: [], withdrawals: null, blockAccessList: null },
      null,
    ];
    const hashes = [HASH, OTHER_HASH, ZERO_HASH];
    expect(await engine.getPayloadBodiesByHash(hashes)).toEqual(expected);
    expect(server.calls.at(-1)!.params).toEqual([hashes]);
    expect(await engine.getPayloadBodiesByRange(16, 4)).toEqual(expected);
    expect(server.calls.at(-1)!.params).toEqual(["0x10", "0x4"]);
    await expect(engine.getPayloadBodiesByHash([HASH])).rejects.toThrow("received 3 payload bodies, expected 1");
    await expect(engine.getPayloadBodiesByRange(16, 2)).rejects.toThrow("expected at most 2");
    const { engine: withoutBodies } = await openEngine([await openClient()]);
    expect(await withoutBodies.getPayloadBodiesByHash([HASH])).toEqual([null]);
    expect(await withoutBodies.getPayloadBodiesByRange(1, 2)).toEqual([]);
  });
});
