import { ForkName, type ForkPostBellatrix, forkPostBellatrix } from "@lodestar/params";
import { type BeaconStateBellatrix, isExecutionEnabled, isMergeTransitionComplete } from "@lodestar/state-transition";
import { type bellatrix, type ExecutionPayload, type gloas, ssz, sszTypesFor } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { DevExecutionEngine } from "./dev-engine.ts";
import { devBlockHash } from "./dev-payload.ts";
import { type BuiltPayload, type PayloadRequest, PayloadUnavailableError, versionedHashesOf } from "./engine.ts";

const bytes32 = (n: number) => new Uint8Array(32).fill(n);

function request(overrides: Partial<PayloadRequest> = {}): PayloadRequest {
  return {
    fork: ForkName.electra,
    slot: 9,
    parent: { blockHash: bytes32(1), blockNumber: 6 },
    parentBeaconBlockRoot: bytes32(2),
    timestamp: 1_700_000_054,
    prevRandao: bytes32(3),
    feeRecipient: new Uint8Array(20).fill(4),
    withdrawals: [],
    ...overrides,
  };
}

async function build(overrides: Partial<PayloadRequest> = {}): Promise<ExecutionPayload> {
  return (await buildBy(new DevExecutionEngine(), request(overrides))).payload;
}

const ZERO_HASH = `0x${"00".repeat(32)}`;

async function buildBy(engine: DevExecutionEngine, wanted: PayloadRequest): Promise<BuiltPayload> {
  const headBlockHash = toRootHex(wanted.parent.blockHash);
  const state = { headBlockHash, safeBlockHash: ZERO_HASH, finalizedBlockHash: ZERO_HASH };
  const { payloadId } = await engine.forkchoiceUpdated(wanted.fork, state, wanted);
  if (payloadId === null) throw new Error("The engine builds nothing.");
  return engine.getPayload(wanted.fork, payloadId);
}

/** Returns a changed payload with a matching hash. */
function rehashed(
  fork: ForkPostBellatrix,
  payload: ExecutionPayload,
  change: Partial<ExecutionPayload | gloas.ExecutionPayload>,
) {
  const changed = { ...payload, ...change };
  return { ...changed, blockHash: devBlockHash(fork, changed) };
}

describe("DevExecutionEngine", () => {
  it.each(forkPostBellatrix)("builds a %s payload that a fresh engine accepts", async (fork) => {
    const withdrawal = { index: 1, validatorIndex: 2, address: new Uint8Array(20).fill(5), amount: 7n };
    const withdrawals = fork === ForkName.bellatrix ? [] : [withdrawal];
    const built = await buildBy(new DevExecutionEngine(), request({ fork, withdrawals }));
    const type = sszTypesFor(fork).ExecutionPayload;
    const received = type.deserialize(type.serialize(built.payload));
    expect(received).toMatchObject({
      parentHash: bytes32(1),
      blockNumber: 7,
      timestamp: 1_700_000_054,
      prevRandao: bytes32(3),
      ...(fork !== ForkName.bellatrix && { withdrawals }),
    });
    const verdict = await new DevExecutionEngine().notifyNewPayload(fork, received, {
      parentBeaconBlockRoot: bytes32(2),
      versionedHashes: [],
      executionRequests: built.executionRequests,
    });
    expect(verdict).toEqual({ status: "valid" });
  });

  it("adds requests and blobs since their forks", async () => {
    const engine = new DevExecutionEngine();
    const parts = async (fork: ForkPostBellatrix) => Object.keys(await buildBy(engine, request({ fork }))).sort();
    expect(await parts(ForkName.capella)).toEqual(["payload", "value"]);
    expect(await parts(ForkName.deneb)).toEqual(["blobsBundle", "payload", "value"]);
    expect(await parts(ForkName.electra)).toEqual(["blobsBundle", "executionRequests", "payload", "value"]);
  });

  it("adds slot number, access list and requests of builders since gloas", async () => {
    const engine = new DevExecutionEngine();
    const { deposits, withdrawals, consolidations } = ssz.electra.ExecutionRequests.defaultValue();
    engine.takeRequestsFrom(async () => ({ deposits, withdrawals, consolidations }));
    const { payload, executionRequests } = await buildBy(engine, request({ fork: ForkName.gloas, slot: 12 }));
    expect(payload).toMatchObject({ slotNumber: 12, blockAccessList: Uint8Array.of(0xc0) });
    expect(executionRequests).toEqual(ssz.gloas.ExecutionRequests.defaultValue());
    const verdictOn = (change: Partial<gloas.ExecutionPayload>) =>
      engine.notifyNewPayload(ForkName.gloas, rehashed(ForkName.gloas, payload, change), { executionRequests });
    expect(await verdictOn({})).toEqual({ status: "valid" });
    expect((await verdictOn({ slotNumber: 13 })).status).toBe("valid");
    expect(await engine.notifyNewPayload(ForkName.gloas, { ...payload, slotNumber: 13 } as typeof payload, {})).toEqual(
      expect.objectContaining({ status: "invalid" }),
    );
    expect(await verdictOn({ blockAccessList: Uint8Array.of(0xc1, 0x80) })).toMatchObject({
      status: "invalid",
      message: "The payload's block access list has 2 bytes, but that of the dev execution engine is empty (0xc0).",
    });
    const builderExits = [{ sourceAddress: new Uint8Array(20), pubkey: new Uint8Array(48) }];
    const others = { ...ssz.gloas.ExecutionRequests.defaultValue(), builderExits };
    expect(await engine.notifyNewPayload(ForkName.gloas, payload, { executionRequests: others })).toMatchObject({
      status: "invalid",
      message: expect.stringContaining("1 execution requests"),
    });
  });

  it("builds payloads deterministically", async () => {
    const hash = async (overrides?: Partial<PayloadRequest>) => toRootHex((await build(overrides)).blockHash);
    expect(await hash()).toBe(await hash());
    expect(await hash({ timestamp: 1_700_000_060 })).not.toBe(await hash());
    expect(await hash({ prevRandao: bytes32(9) })).not.toBe(await hash());
  });

  it.each<[string, Partial<ExecutionPayload>]>([
    ["fee recipient", { feeRecipient: new Uint8Array(20).fill(9) }],
    ["timestamp", { timestamp: 1 }],
    ["state root", { stateRoot: bytes32(9) }],
    ["transactions", { transactions: [Uint8Array.of(1)] }],
    ["block hash", { blockHash: bytes32(9) }],
  ])("rejects a payload whose %s was changed after hashing", async (_, change) => {
    const verdict = await new DevExecutionEngine().notifyNewPayload(
      ForkName.electra,
      { ...(await build()), ...change },
      {},
    );
    expect(verdict).toMatchObject({ status: "invalid", latestValidHash: null });
    expect(verdict).toHaveProperty("message", expect.stringContaining("its content hashes to"));
  });

  it("rejects content that requires transactions", async () => {
    const engine = new DevExecutionEngine();
    const payload = await build();
    const withTransaction = rehashed(ForkName.electra, payload, { transactions: [Uint8Array.of(1)] });
    expect(await engine.notifyNewPayload(ForkName.electra, withTransaction, {})).toMatchObject({ status: "invalid" });
  });

  it("adds injected blobs, and rejects other blobs with the same payload", async () => {
    const commitments = [new Uint8Array(48).fill(1), new Uint8Array(48).fill(2)];
    const bundle = { commitments, proofs: [], blobs: [] };
    const none = { commitments: [], proofs: [], blobs: [] };
    const engine = new DevExecutionEngine();
    engine.takeBlobsFrom(async ({ slot }) => (slot === 9 ? bundle : none));
    const { payload, blobsBundle } = await buildBy(engine, request());
    expect(blobsBundle).toBe(bundle);
    expect(payload).toMatchObject({ blobGasUsed: 262_144n, excessBlobGas: 0n });
    expect((await buildBy(engine, request({ slot: 10 }))).payload).toEqual(await build({ slot: 10 }));
    expect(await buildBy(engine, request({ fork: ForkName.capella }))).not.toHaveProperty("blobsBundle");

    const [first, second] = versionedHashesOf(commitments) as [Uint8Array, Uint8Array];
    const judge = (...versionedHashes: Uint8Array[]) =>
      new DevExecutionEngine().notifyNewPayload(ForkName.electra, payload, { versionedHashes });
    expect(await judge(first, second)).toEqual({ status: "valid" });
    for (const hashes of [[], [first], [second, first]]) {
      expect(await judge(...hashes)).toMatchObject({ status: "invalid" });
    }
    expect(await judge(second, first)).toHaveProperty(
      "message",
      expect.stringContaining("its content with the 2 blob commitments of the block hashes to"),
    );
    const unpaid = rehashed(ForkName.electra, payload, { blobGasUsed: 131_072n });
    expect(await engine.notifyNewPayload(ForkName.electra, unpaid, {})).toMatchObject({
      status: "invalid",
      message: "The payload uses 131072 blob gas, but the 0 blobs of the block use 0.",
    });
  });

  it("adds injected requests, and rejects other requests with the same payload", async () => {
    const executionRequests = ssz.electra.ExecutionRequests.defaultValue();
    executionRequests.withdrawals.push(ssz.electra.WithdrawalRequest.defaultValue());
    const engine = new DevExecutionEngine();
    engine.takeRequestsFrom(async ({ slot }) => {
      return slot === 9 ? executionRequests : ssz.electra.ExecutionRequests.defaultValue();
    });
    const built = await buildBy(engine, request());
    expect(built.executionRequests).toEqual(executionRequests);
    expect((await buildBy(engine, request({ slot: 10 }))).payload).toEqual(await build({ slot: 10 }));

    const judge = (requests: typeof executionRequests | undefined) =>
      new DevExecutionEngine().notifyNewPayload(ForkName.electra, built.payload, { executionRequests: requests });
    expect(await judge(executionRequests)).toEqual({ status: "valid" });
    expect(await judge(undefined)).toMatchObject({ status: "invalid" });
    expect(await judge(ssz.electra.ExecutionRequests.defaultValue())).toMatchObject({ status: "invalid" });
    const [withdrawal] = executionRequests.withdrawals;
    expect(await judge({ ...executionRequests, withdrawals: [withdrawal!, withdrawal!] })).toMatchObject({
      status: "invalid",
      message: expect.stringContaining("its content with the 2 execution requests of the block hashes to"),
    });
  });

  it("rejects a child that does not follow its known parent", async () => {
    const engine = new DevExecutionEngine();
    const parent = await build();
    expect(await engine.notifyNewPayload(ForkName.electra, parent, {})).toEqual({ status: "valid" });
    const follow = { parent: { blockHash: parent.blockHash, blockNumber: 7 }, timestamp: parent.timestamp + 6 };
    const latestValidHash = toRootHex(parent.blockHash);

    const sameTime = await build({ ...follow, timestamp: parent.timestamp });
    expect(await engine.notifyNewPayload(ForkName.electra, sameTime, {})).toMatchObject({
      status: "invalid",
      latestValidHash,
      message: expect.stringContaining("not later than its parent's"),
    });
    const wrongNumber = await build({ ...follow, parent: { blockHash: parent.blockHash, blockNumber: 8 } });
    expect(await engine.notifyNewPayload(ForkName.electra, wrongNumber, {})).toMatchObject({
      status: "invalid",
      latestValidHash,
      message: "The payload has block number 9, expected 8 after its parent.",
    });
    expect(await engine.notifyNewPayload(ForkName.electra, await build(follow), {})).toEqual({ status: "valid" });
  });

  it("looks up a parent number that the request lacks", async () => {
    const engine = new DevExecutionEngine();
    const parent = await build();
    await engine.notifyNewPayload(ForkName.electra, parent, {});
    const unnumbered = { blockHash: parent.blockHash, blockNumber: null };
    expect((await buildBy(engine, request({ parent: unnumbered }))).payload.blockNumber).toBe(8);
    await expect(buildBy(new DevExecutionEngine(), request({ parent: unnumbered }))).rejects.toThrow(
      "the request lacks its number",
    );
  });

  it("builds the payload of the merge transition block, which enables execution", async () => {
    const payload = (await build({
      fork: ForkName.bellatrix,
      parent: await new DevExecutionEngine().terminalBlock(),
    })) as bellatrix.ExecutionPayload;
    expect(payload.blockNumber).toBe(1);
    expect(await new DevExecutionEngine().notifyNewPayload(ForkName.bellatrix, payload, {})).toEqual({
      status: "valid",
    });
    const state = ssz.bellatrix.BeaconState.defaultViewDU() as BeaconStateBellatrix;
    const block = ssz.bellatrix.BeaconBlock.defaultValue();
    expect([isMergeTransitionComplete(state), isExecutionEnabled(state, block)]).toEqual([false, false]);
    block.body.executionPayload = payload;
    expect(isExecutionEnabled(state, block)).toBe(true);
  });

  it("rejects payload ids of another engine", async () => {
    const { payloadId } = await new DevExecutionEngine().forkchoiceUpdated(
      ForkName.electra,
      { headBlockHash: ZERO_HASH, safeBlockHash: ZERO_HASH, finalizedBlockHash: ZERO_HASH },
      request(),
    );
    await expect(new DevExecutionEngine().getPayload(ForkName.electra, payloadId as string)).rejects.toThrow(
      PayloadUnavailableError,
    );
  });

  it("accepts only one terminal block", async () => {
    const engine = new DevExecutionEngine();
    const { blockHash } = await engine.terminalBlock();
    expect(await engine.judgeTerminalBlock(toRootHex(blockHash))).toBe("terminal");
    expect(await engine.judgeTerminalBlock(ZERO_HASH)).toBe("not-terminal");
  });
});
