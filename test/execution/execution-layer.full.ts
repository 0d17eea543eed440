import { BYTES_PER_FIELD_ELEMENT, FIELD_ELEMENTS_PER_BLOB } from "@lodestar/params";
import { type BlobsBundle, ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { expect, it, onTestFinished } from "vitest";
import { versionedHashesOf } from "../../src/execution/engine.ts";
import { answered, forkchoiceTo, newPayloadOf } from "../support/execution-layer/call-log.ts";
import { DEPOSIT_CONTRACT } from "../support/execution-layer/contracts.ts";
import { EngineDriver } from "../support/execution-layer/engine-driver.ts";
import { ExecutionLayer } from "../support/execution-layer/execution-layer.ts";
import {
  accepted,
  answers,
  changes,
  type Fault,
  fails,
  garbage,
  hold,
  invalid,
  resets,
  respondsWith,
  slow,
  syncing,
} from "../support/execution-layer/faults.ts";
import { FORKS, type ForkTimes } from "../support/execution-layer/forks.ts";
import { executionGenesis } from "../support/execution-layer/genesis.ts";
import { EngineHttpClient } from "../support/execution-layer/http-client.ts";
import { serveExecutionLayer } from "../support/execution-layer/http-server.ts";
import { makeToken } from "../support/execution-layer/jwt.ts";
import { Sender } from "../support/execution-layer/transactions.ts";
import {
  type BuiltPayload,
  type ExecutionPayload,
  type ForkchoiceAnswer,
  type Hex,
  toQuantity,
  ZERO_HASH,
} from "../support/execution-layer/wire.ts";

const SECRET = new Uint8Array(32).fill(7);
const GENESIS_TIME = 1_700_000_000;
const SLOT_SECONDS = 12;
const BLOCKS_A_FORK = 5;
const UNKNOWN: Hex = `0x${"12".repeat(32)}`;

/** The selector of get_deposit_root(). */
const GET_DEPOSIT_ROOT = "0xc5f2892f";

/** Blocks 1 to 5 are in the first fork, 6 to 10 in the second, and so on. */
const EVERY_FORK: ForkTimes = Object.fromEntries(
  ["shanghai", "cancun", "prague", "osaka"].map((fork, index) => [
    fork,
    GENESIS_TIME + SLOT_SECONDS * (index === 0 ? 0 : 1 + BLOCKS_A_FORK * index),
  ]),
);
const PRAGUE: ForkTimes = { shanghai: GENESIS_TIME, cancun: GENESIS_TIME, prague: GENESIS_TIME };

/** An execution layer over HTTP, with a consensus driver and a transaction sender. */
async function serve(forks: ForkTimes) {
  const genesis = executionGenesis({ timestamp: GENESIS_TIME, forks });
  const layer = await ExecutionLayer.open(genesis);
  const server = await serveExecutionLayer(layer, { secret: SECRET });
  onTestFinished(() => server.close());
  const client = new EngineHttpClient(server.url, SECRET);
  const driver = new EngineDriver(client, {
    forks,
    genesis: { hash: layer.genesisHash, timestamp: GENESIS_TIME },
    slotSeconds: SLOT_SECONDS,
  });
  return { layer, server, client, driver, sender: new Sender(genesis.config.chainId) };
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

const depositData = (seed: number) => ({
  ...ssz.phase0.DepositData.defaultValue(),
  pubkey: new Uint8Array(48).fill(seed),
  withdrawalCredentials: new Uint8Array(32).fill(seed + 1),
  amount: 32_000_000_000,
  signature: new Uint8Array(96).fill(seed + 2),
});

it("builds, executes and follows blocks from Shanghai to Osaka, its own and others'", async () => {
  const { client, driver, sender } = await serve(EVERY_FORK);
  const other = await serve(EVERY_FORK);
  const receiver: Hex = `0x${"ab".repeat(20)}`;
  const withdrawal = { index: "0x0", validatorIndex: "0x5", address: receiver, amount: toQuantity(10 ** 9) } as const;
  const forks: string[] = [];
  for (let number = 1; number <= 4 * BLOCKS_A_FORK; number++) {
    const { raw, hash } = sender.transfer(receiver, 10n ** 9n);
    expect(await client.call("eth_sendRawTransaction", raw)).toBe(hash);
    const block = await driver.advance({ withdrawals: [withdrawal] });
    forks.push(block.fork);
    const { blockHash } = block.executionPayload;
    expect(block.executionPayload).toMatchObject({ blockNumber: toQuantity(number), transactions: [raw] });
    expect(BigInt(block.blockValue)).toBe(21_000n * 2n * 10n ** 9n);
    expect(await client.call("eth_getTransactionReceipt", hash)).toMatchObject({ status: "0x1", blockHash });
    expect(await other.driver.newPayload(block)).toMatchObject({ status: "VALID", latestValidHash: blockHash });
    expect(await other.driver.setHead(block)).toMatchObject({ status: "VALID" });
  }
  expect(forks).toEqual(["shanghai", "cancun", "prague", "osaka"].flatMap((fork) => Array(BLOCKS_A_FORK).fill(fork)));
  expect(await other.client.call("eth_blockNumber")).toBe(toQuantity(4 * BLOCKS_A_FORK));
  expect(BigInt(await other.client.call<Hex>("eth_getBalance", receiver, "latest"))).toBe(
    20n * (10n ** 9n + 10n ** 18n),
  );
  expect(await client.call("eth_getBlockByNumber", "0xa", true)).toMatchObject({
    number: "0xa",
    transactions: [{ from: sender.address, to: receiver, blockNumber: "0xa" }],
    withdrawals: [withdrawal],
  });
});

it("starts in any fork since the merge, also in-process", async () => {
  for (const [index, fork] of FORKS.entries()) {
    const forks: ForkTimes = Object.fromEntries(FORKS.slice(1, index + 1).map((earlier) => [earlier, GENESIS_TIME]));
    const layer = await ExecutionLayer.open(executionGenesis({ timestamp: GENESIS_TIME, forks }));
    const driver = new EngineDriver(layer, { forks, genesis: { hash: layer.genesisHash, timestamp: GENESIS_TIME } });
    expect((await driver.advance()).fork).toBe(fork);
    await expect(layer.call("engine_getPayloadV1", "0x0000000000000000")).rejects.toMatchObject({ code: -38001 });
  }
});

it("creates execution requests from deposits, withdrawal requests and consolidation requests", async () => {
  const { client, driver, sender } = await serve(PRAGUE);
  // The system calls of the first block activate the request contracts.
  expect((await driver.advance()).executionRequests).toEqual([]);
  const deposit = depositData(1);
  const [source, target] = [new Uint8Array(48).fill(3), new Uint8Array(48).fill(4)];
  const amount = 16n * 10n ** 9n;
  const sent = [
    sender.deposit(deposit),
    sender.requestWithdrawal(source, amount),
    sender.requestConsolidation(source, target),
  ];
  for (const { raw } of sent) await client.call("eth_sendRawTransaction", raw);
  const { DepositRequests, WithdrawalRequests, ConsolidationRequests } = ssz.electra;
  const sourceAddress = Buffer.from(sender.address.slice(2), "hex");
  const requests = [
    DepositRequests.serialize([{ ...deposit, index: 0n }]),
    WithdrawalRequests.serialize([{ sourceAddress, validatorPubkey: source, amount }]),
    ConsolidationRequests.serialize([{ sourceAddress, sourcePubkey: source, targetPubkey: target }]),
  ];
  expect((await driver.advance()).executionRequests).toEqual(
    requests.map((bytes, type) => `0x0${type}${hexOf(bytes)}`),
  );
  expect((await driver.advance()).executionRequests).toEqual([]);

  const logs = { address: DEPOSIT_CONTRACT, fromBlock: "0x0", toBlock: "latest" };
  expect(await client.call("eth_getLogs", logs)).toMatchObject([
    { blockNumber: "0x2", transactionHash: sent[0]!.hash, logIndex: "0x0" },
  ]);
  expect(await client.call("eth_getLogs", { ...logs, fromBlock: "0x3" })).toEqual([]);
  expect(await client.call("eth_getLogs", { ...logs, topics: [UNKNOWN] })).toEqual([]);
  const root = ssz.phase0.DepositDataRootList.hashTreeRoot([ssz.phase0.DepositData.hashTreeRoot(deposit)]);
  const call = { to: DEPOSIT_CONTRACT, data: GET_DEPOSIT_ROOT };
  expect(await client.call("eth_call", call, "latest")).toBe(`0x${hexOf(root)}`);
});

/** Blobs that only contain a number. Proofs are not verified here. */
function bundleOf(numbers: readonly number[], proofsOfBlob: 1 | 128) {
  const filled = (bytes: number) => numbers.map((number) => new Uint8Array(bytes).fill(number));
  return {
    blobs: filled(FIELD_ELEMENTS_PER_BLOB * BYTES_PER_FIELD_ELEMENT),
    commitments: filled(48),
    proofs: filled(48).flatMap((proof) => Array<Uint8Array>(proofsOfBlob).fill(proof)),
  };
}

it("includes the blobs of transactions, and serves them from its pool until they are finalized", async () => {
  const forks: ForkTimes = { ...PRAGUE, osaka: GENESIS_TIME + 3 * SLOT_SECONDS };
  const { layer, client, driver, sender } = await serve(forks);
  const other = await serve(forks);
  const send = (bundle: BlobsBundle) => client.call("eth_sendRawTransaction", sender.blobs(bundle).raw);
  const inHex = (list: readonly Uint8Array[]) => list.map((bytes) => toHex(bytes));
  const hashesOf = ({ commitments }: BlobsBundle) => inHex(versionedHashesOf(commitments));
  const gasOf = (blobs: number) => toQuantity(blobs * 2 ** 17);

  const [six, three] = [bundleOf([1, 2, 3, 4, 5, 6], 1), bundleOf([7, 8, 9], 1)];
  for (const bundle of [six, three]) await send(bundle);
  const nine = bundleOf([1, 2, 3, 4, 5, 6, 7, 8, 9], 1);
  const first = await driver.build();
  expect(first.executionPayload).toMatchObject({ blobGasUsed: gasOf(9), excessBlobGas: gasOf(0) });
  expect(first.blobsBundle).toEqual({
    blobs: inHex(nine.blobs),
    commitments: inHex(nine.commitments),
    proofs: inHex(nine.proofs),
  });
  expect(await driver.newPayload({ ...first, blobsBundle: undefined })).toMatchObject({ status: "INVALID" });
  const surroundings = { parentBeaconBlockRoot: first.attributes.parentBeaconBlockRoot, executionRequests: [] };
  const cheated = { ...first.executionPayload, blobGasUsed: gasOf(8) };
  const executionPayload = await layer.chain.evm.sealed(cheated, surroundings);
  expect(await driver.newPayload({ ...first, executionPayload })).toMatchObject({ status: "INVALID" });
  for (const one of [driver, other.driver]) {
    expect(await one.newPayload(first)).toMatchObject({ status: "VALID" });
  }
  await driver.setHead(first);
  expect(await client.call("engine_getBlobsV1", [...hashesOf(three), UNKNOWN])).toEqual([
    ...three.blobs.map((blob, index) => ({ blob: toHex(blob), proof: toHex(three.proofs[index]!) })),
    null,
  ]);
  expect(await client.call("engine_getBlobsV2", hashesOf(three))).toBeNull();
  // Three more than their target.
  expect((await driver.advance()).executionPayload).toMatchObject({ blobGasUsed: gasOf(0), excessBlobGas: gasOf(3) });

  const cells = bundleOf([10, 11], 128);
  await send(cells);
  // Osaka requires cell proofs.
  await send(bundleOf([12], 1));
  const last = await driver.advance();
  expect(last).toMatchObject({ fork: "osaka", executionPayload: { blobGasUsed: gasOf(2) } });
  expect(last.blobsBundle?.proofs).toEqual(inHex(cells.proofs));
  const fromPool = () => client.call("engine_getBlobsV2", hashesOf(cells));
  expect(await fromPool()).toEqual(
    cells.blobs.map((blob, index) => ({
      blob: toHex(blob),
      proofs: inHex(cells.proofs.slice(128 * index, 128 * (index + 1))),
    })),
  );
  expect(await client.call("engine_getBlobsV2", [...hashesOf(cells), UNKNOWN])).toBeNull();
  driver.finalized = last.executionPayload.blockHash;
  await driver.advance();
  expect(await fromPool()).toBeNull();
  const withoutBlobs = last.executionPayload.transactions[0];
  await expect(client.call("eth_sendRawTransaction", withoutBlobs)).rejects.toMatchObject({ code: -32000 });
});

it("distinguishes invalid payloads and their descendants from unknown ones, and reorgs", async () => {
  const { layer, client, driver, sender } = await serve(PRAGUE);
  layer.chain.addTransaction(sender.transfer(sender.address, 1n).raw);
  const first = await driver.advance();
  const second = await driver.build();
  const surroundings = { parentBeaconBlockRoot: second.attributes.parentBeaconBlockRoot, executionRequests: [] };
  const changed = async (change: Partial<ExecutionPayload>) => ({
    ...second,
    executionPayload: await layer.chain.evm.sealed({ ...second.executionPayload, ...change }, surroundings),
  });
  const blobs = [second.executionPayload, [UNKNOWN], surroundings.parentBeaconBlockRoot, []];
  expect(await client.call("engine_newPayloadV4", ...blobs)).toMatchObject({
    status: "INVALID",
    latestValidHash: null,
  });
  const wrongHash = { ...second, executionPayload: { ...second.executionPayload, blockHash: UNKNOWN } };
  expect(await driver.newPayload(wrongHash)).toMatchObject({ status: "INVALID", latestValidHash: null });

  const firstHash = first.executionPayload.blockHash;
  const bad = await changed({ stateRoot: UNKNOWN });
  const childOfBad = await changed({ parentHash: bad.executionPayload.blockHash, blockNumber: "0x3" });
  const orphan = await changed({ parentHash: UNKNOWN });
  for (const block of [bad, childOfBad]) {
    expect(await driver.newPayload(block)).toMatchObject({ status: "INVALID", latestValidHash: firstHash });
    expect(await driver.setHead(block)).toMatchObject({ status: "INVALID", latestValidHash: firstHash });
  }
  for (const block of [orphan, second]) expect(await driver.setHead(block)).toMatchObject({ status: "SYNCING" });
  expect(await driver.newPayload(orphan)).toMatchObject({ status: "SYNCING", latestValidHash: null });

  driver.head = { hash: layer.genesisHash, timestamp: GENESIS_TIME };
  const sibling = await driver.advance({ suggestedFeeRecipient: sender.address });
  expect(sibling.executionPayload.transactions).toEqual(first.executionPayload.transactions);
  expect(await client.call("eth_getBlockByNumber", "latest", false)).toMatchObject({ miner: sender.address });
  expect(await driver.setHead(first)).toMatchObject({ status: "VALID" });
  expect(await client.call("eth_getBlockByNumber", "latest", false)).toMatchObject({ hash: firstHash });

  await driver.newPayload(second);
  layer.chain.condemn(firstHash);
  for (const block of [first, second]) {
    expect(await driver.newPayload(block)).toMatchObject({ status: "INVALID", latestValidHash: layer.genesisHash });
  }
});

it("rejects calls with the error codes of the specification", async () => {
  const { layer, client, driver } = await serve(EVERY_FORK);
  const block = await driver.advance();
  const { executionPayload: payload, attributes } = block;
  const state = driver.state();
  const next = driver.attributes();
  const inCancun = { ...next, timestamp: toQuantity(EVERY_FORK.cancun!), parentBeaconBlockRoot: UNKNOWN };
  const { payloadId } = await client.call<ForkchoiceAnswer>("engine_forkchoiceUpdatedV2", state, next);
  const refusals: [code: number, method: string, ...params: unknown[]][] = [
    [-32601, "engine_newPayloadV9", payload],
    [-32602, "engine_newPayloadV2", { ...payload, gasUsed: "0x00" }],
    [-32602, "engine_newPayloadV2", { ...payload, withdrawals: undefined }],
    [-32602, "engine_newPayloadV3", payload, [], UNKNOWN],
    [-38005, "engine_newPayloadV3", { ...payload, blobGasUsed: "0x0", excessBlobGas: "0x0" }, [], UNKNOWN],
    [-32602, "engine_newPayloadV4", { ...payload, blobGasUsed: "0x0", excessBlobGas: "0x0" }, [], UNKNOWN, ["0x01"]],
    [-32602, "engine_forkchoiceUpdatedV2", { headBlockHash: UNKNOWN }, null],
    [-38002, "engine_forkchoiceUpdatedV2", { ...state, finalizedBlockHash: UNKNOWN }, null],
    [-38003, "engine_forkchoiceUpdatedV2", state, attributes],
    [-38003, "engine_forkchoiceUpdatedV2", state, { ...next, withdrawals: undefined }],
    [-38003, "engine_forkchoiceUpdatedV3", state, { ...inCancun, parentBeaconBlockRoot: undefined }],
    [-38005, "engine_forkchoiceUpdatedV3", state, { ...next, parentBeaconBlockRoot: UNKNOWN }],
    [-38005, "engine_forkchoiceUpdatedV2", state, { ...next, timestamp: inCancun.timestamp }],
    [-38001, "engine_getPayloadV2", "0x0000000000000000"],
    [-38005, "engine_getPayloadV3", payloadId],
    [-38004, "engine_getBlobsV1", Array(129).fill(UNKNOWN)],
    [-32000, "eth_sendRawTransaction", "0x1234"],
  ];
  for (const [code, method, ...params] of refusals) {
    await expect(client.call(method, ...params), `${method} ${JSON.stringify(params)}`).rejects.toMatchObject({ code });
  }
  expect(await client.call("engine_getBlobsV1", [UNKNOWN])).toEqual([null]);
  expect(await client.call("engine_getBlobsV2", [UNKNOWN])).toBeNull();
  const capabilities = await client.call<string[]>("engine_exchangeCapabilities", []);
  expect(capabilities).toEqual(expect.arrayContaining(["engine_newPayloadV4", "engine_getPayloadV5"]));
  expect(capabilities).not.toContain("engine_exchangeCapabilities");
  expect(layer.calls.of("engine_exchangeCapabilities")).toEqual([
    { method: "engine_exchangeCapabilities", params: [[]], outcome: { kind: "result", result: capabilities } },
  ]);
});

it("requires a fresh JWT with every request", async () => {
  const { server, client } = await serve(PRAGUE);
  const now = Math.floor(Date.now() / 1000);
  const status = async (token: string) => (await client.post("eth_chainId", [], token)).status;
  expect(await status(makeToken(SECRET, { iat: now - 50, id: "test" }))).toBe(200);
  const wrong = [
    "",
    "a.b.c",
    makeToken(new Uint8Array(32)),
    makeToken(SECRET, { iat: now - 70 }),
    makeToken(SECRET, { iat: now + 70 }),
    makeToken(SECRET, {}),
  ];
  for (const token of wrong) expect(await status(token), token).toBe(401);
  expect(server.refused).toBe(wrong.length);
});

it("fails on demand, and records its calls", async () => {
  const { layer, client, driver } = await serve(PRAGUE);
  const { calls, faults } = layer;
  const first = await driver.advance();
  const firstHash = first.executionPayload.blockHash;
  const second = await driver.build();
  const secondHash = second.executionPayload.blockHash;

  const verdicts: [fault: Fault, status: string, latestValidHash: Hex | null][] = [
    [invalid(), "INVALID", firstHash],
    [invalid(2), "INVALID", layer.genesisHash],
    [invalid("null"), "INVALID", null],
    [invalid("zero"), "INVALID", ZERO_HASH],
    [accepted, "ACCEPTED", null],
    [syncing, "SYNCING", null],
  ];
  for (const [fault] of verdicts) faults.set("engine_newPayload", fault, { times: 1 });
  for (const [, status, latestValidHash] of verdicts) {
    expect(await driver.newPayload(second)).toMatchObject({ status, latestValidHash });
  }
  expect(await driver.newPayload(second)).toMatchObject({ status: "VALID" });

  const endSyncing = faults.set("engine_forkchoiceUpdated", syncing);
  for (let i = 0; i < 2; i++) expect(await driver.setHead(second)).toMatchObject({ status: "SYNCING" });
  endSyncing();
  faults.set("engine_forkchoiceUpdated", invalid(), { times: 1 });
  expect(await driver.setHead(second)).toMatchObject({ status: "INVALID", latestValidHash: firstHash });
  expect(await driver.setHead(second)).toMatchObject({ status: "VALID" });

  const third = await driver.build();
  const withoutRequests = changes((result) => ({ ...(result as BuiltPayload), executionRequests: undefined }));
  const failures: [fault: Fault, how: (reply: Promise<unknown>) => Promise<unknown>][] = [
    [fails(-32000, "Out of order"), (reply) => expect(reply).rejects.toMatchObject({ code: -32000 })],
    [respondsWith(500), (reply) => expect(reply).rejects.toThrow("HTTP 500")],
    [respondsWith(401), (reply) => expect(reply).rejects.toThrow("HTTP 401")],
    [garbage, (reply) => expect(reply).rejects.toThrow(SyntaxError)],
    [resets, (reply) => expect(reply).rejects.toThrow("fetch failed")],
    [answers(["a wrong shape"]), (reply) => expect(reply).resolves.toEqual(["a wrong shape"])],
    [slow(1), (reply) => expect(reply).resolves.toHaveProperty("executionRequests")],
    [withoutRequests, (reply) => expect(reply).resolves.not.toHaveProperty("executionRequests")],
  ];
  const { payloadId } = await driver.forkchoiceUpdated("prague", driver.state(), third.attributes);
  for (const [fault, how] of failures) {
    faults.set("engine_getPayloadV4", fault, { times: 1 });
    await how(client.call("engine_getPayloadV4", payloadId));
  }

  faults.set("*", respondsWith(503), { times: 2 });
  await expect(client.call("eth_chainId")).rejects.toThrow("HTTP 503");
  await expect(driver.newPayload(third)).rejects.toThrow("HTTP 503");

  const held = hold();
  const from = calls.all.length;
  faults.set("engine_newPayload", held.fault);
  const reply = driver.newPayload(third);
  const asked = await calls.until(newPayloadOf(third.executionPayload.blockHash), { from });
  expect(asked.outcome).toBeUndefined();
  held.release();
  expect(await calls.until(answered(newPayloadOf(third.executionPayload.blockHash)), { from })).toBe(asked);
  expect(await reply).toMatchObject({ status: "VALID" });
  expect(await calls.until(forkchoiceTo(secondHash))).toMatchObject({ outcome: { kind: "result" } });
});
