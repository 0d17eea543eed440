import { eoaCode7702SignAuthorization } from "@ethereumjs/util";
import { ForkName } from "@lodestar/params";
import { describe, expect, it } from "vitest";
import { methods } from "../../src/api/method-groups.ts";
import { DevBlobs } from "../../src/dev/dev-blobs.ts";
import { joinSidecar } from "../../src/evm/pool/sidecar.ts";
import { versionedHashesOf } from "../../src/execution/engine.ts";
import type { Params } from "../../src/server/method-table.ts";
import { account, bytesOf, GWEI, hexOf, openEvmChain, signed } from "../support/chain/evm-chain.ts";
import { ExecutionApis } from "./execution-apis.ts";

/** A checkout of ethereum/execution-apis. */
const DIRECTORY = process.env.FANAL_EXECUTION_APIS;

const OTHER = "0x7777777777777777777777777777777777777777";
const UNKNOWN_HASH = `0x${"12".repeat(32)}`;
/** Stores 1 in slot 0 and emits a log with the topic 1. */
const LOGGING_CODE = "6001600055600160006000a100";
const CREATION_CODE = `0x6c${LOGGING_CODE}600052600d6013f3`;
const REVERTING_CODE = "0x60006000fd";
const OUT_OF_GAS_CODE = "0x5b600056";
const INVALID_PARAMS = -32602;

const own = new Map(methods.filter(({ needsEvm }) => needsEvm).map((method) => [method.name, method]));

type Chain = Awaited<ReturnType<typeof openEvmChain>>;

/** Calls methods and keeps their results. */
class Recorder {
  readonly results = new Map<string, { params: unknown; result: unknown }[]>();
  readonly #chain: Chain;

  constructor(chain: Chain) {
    this.#chain = chain;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the schemas check what a method returns
  async call(name: string, ...params: unknown[]): Promise<any> {
    const result = await this.#chain.call(name, params);
    const results = this.results.get(name) ?? [];
    this.results.set(name, [...results, { params, result }]);
    return result;
  }
}

/** Sends transactions of all types and calls every method that both sides have. */
async function record(chain: Chain): Promise<Recorder> {
  const recorder = new Recorder(chain);
  const call = recorder.call.bind(recorder);
  const { engine, advance } = chain;
  const from = hexOf(account(0).address);
  const hashes: string[] = [];
  const send = async (raw: Uint8Array) => hashes.push(await call("eth_sendRawTransaction", hexOf(raw)));

  await call("eth_chainId");
  await send(signed(engine, 0, { data: bytesOf(CREATION_CODE) }));
  await advance(1);
  const { contractAddress: contract } = await call("eth_getTransactionReceipt", hashes[0]);

  const logFilter = await call("eth_newFilter", { address: contract });
  const blockFilter = await call("eth_newBlockFilter");
  const transactionFilter = await call("eth_newPendingTransactionFilter");
  const to = bytesOf(contract);
  const accessList = [[to, [new Uint8Array(32)]]];
  const authorization = eoaCode7702SignAuthorization([bytesOf("7a69"), to, new Uint8Array()], account(5).privateKey);
  await send(signed(engine, 0, { type: 0, to, value: 0n }));
  await send(signed(engine, 1, { type: 1, to, accessList }));
  await send(signed(engine, 2, { type: 2, to, accessList }));
  await send(blobTransaction(chain));
  await send(signed(engine, 4, { type: 4, to, authorizationList: [authorization] }));
  await send(signed(engine, 6, { data: bytesOf(REVERTING_CODE) }));
  await send(signed(engine, 7, { data: bytesOf(OUT_OF_GAS_CODE), gasLimit: 60_000n }));
  hashes.push(await call("eth_sendTransaction", { from, to: OTHER, value: "0x1", gas: "0x5208" }));
  await advance(1);
  await call("eth_getFilterChanges", logFilter);
  await call("eth_getFilterChanges", blockFilter);
  await call("eth_getFilterChanges", transactionFilter);
  await call("eth_getFilterLogs", logFilter);
  for (const filter of [logFilter, blockFilter, transactionFilter]) await call("eth_uninstallFilter", filter);

  for (const name of ["blockNumber", "syncing", "accounts", "coinbase", "gasPrice", "maxPriorityFeePerGas"]) {
    await call(`eth_${name}`);
  }
  await call("eth_blobBaseFee");
  await call("net_version");
  await call("eth_config");
  await call("eth_feeHistory", "0x3", "latest", [25, 50, 99.5]);
  await call("eth_feeHistory", "0x1", "earliest", []);

  const latest = await call("eth_getBlockByNumber", "latest", true);
  expect(latest.transactions).toHaveLength(8);
  for (const block of ["earliest", "0x1", "safe", "finalized", "latest", "0xffff"]) {
    await call("eth_getBlockByNumber", block, false);
    await call("eth_getBlockTransactionCountByNumber", block);
    await call("eth_getBlockReceipts", block);
    await call("eth_getUncleCountByBlockNumber", block);
  }
  for (const block of ["earliest", "0x1", "latest"]) {
    for (const part of ["Header", "Block", "Receipts"]) await call(`debug_getRaw${part}`, block);
  }
  for (const hash of [latest.hash, latest.parentHash, UNKNOWN_HASH]) {
    await call("eth_getBlockByHash", hash, true);
    await call("eth_getBlockTransactionCountByHash", hash);
    await call("eth_getUncleCountByBlockHash", hash);
    await call("eth_getTransactionByBlockHashAndIndex", hash, "0x0");
  }
  for (const [index, hash] of [...hashes, UNKNOWN_HASH].entries()) {
    await call("eth_getTransactionByHash", hash);
    await call("eth_getTransactionReceipt", hash);
    await call("eth_getTransactionByBlockNumberAndIndex", "latest", `0x${index.toString(16)}`);
  }
  for (const hash of hashes) {
    await call("debug_getRawTransaction", hash);
    await call("debug_traceTransaction", hash);
    const options = { enableMemory: true, enableReturnData: true, disableStack: true, disableStorage: true };
    await call("debug_traceTransaction", hash, options);
  }
  await call("debug_traceBlockByNumber", "latest");
  await call("debug_traceBlockByHash", latest.hash, { tracer: "prestateTracer" });

  for (const address of [from, contract, OTHER, hexOf(account(5).address)]) {
    await call("eth_getBalance", address, "latest");
    await call("eth_getCode", address, "latest");
    await call("eth_getTransactionCount", address, "latest");
    await call("eth_getStorageAt", address, "0x0", "latest");
    await call("eth_getProof", address, ["0x0", "0x01", `0x${"ab".repeat(32)}`], "latest");
  }
  await call("eth_getLogs", { fromBlock: "earliest", toBlock: "latest" });
  await call("eth_getLogs", { blockHash: latest.hash, address: [contract] });

  const calls = [{ to: contract }, { from, to: contract, input: "0x1234" }, { from, input: CREATION_CODE }];
  for (const request of calls) {
    await call("eth_call", request, "latest");
    await call("eth_estimateGas", request);
    await call("eth_createAccessList", request, "latest");
  }
  await call("eth_createAccessList", { from, input: REVERTING_CODE }, "latest");
  const blockStateCalls = [
    { calls },
    { blockOverrides: { gasLimit: "0x1c9c380" }, calls: [{ input: REVERTING_CODE }] },
  ];
  for (const returnFullTransactions of [false, true]) {
    await call("eth_simulateV1", { blockStateCalls, traceTransfers: true, returnFullTransactions }, "latest");
  }

  await call("eth_sign", from, "0xdeadbeef");
  const request = { from, to: OTHER, gas: "0x5208" };
  await call("eth_signTransaction", { ...request, gasPrice: "0x77359400" });
  await call("eth_signTransaction", request);
  await send(signed(engine, 0, { type: 1, to }));
  await send(signed(engine, 1, { to, nonce: 10n }));
  await call("txpool_status");
  await call("txpool_content");
  await call("txpool_contentFrom", from);
  return recorder;
}

function blobTransaction({ engine, chain: { config } }: Chain): Uint8Array {
  const blobs = new DevBlobs({ config, counts: { min: 1, max: 1 } });
  const parent = { blockHash: bytesOf(OTHER), blockNumber: 0 };
  const bundle = blobs.bundleFor({ fork: ForkName.fulu, slot: 3, parent });
  const blobVersionedHashes = versionedHashesOf(bundle.commitments).map(hexOf);
  const raw = signed(engine, 3, { type: 3, to: bytesOf(OTHER), blobVersionedHashes, maxFeePerBlobGas: GWEI });
  return joinSidecar({ raw, sidecar: { version: 1, ...bundle } });
}

describe.skipIf(DIRECTORY === undefined)("execution-apis (FANAL_EXECUTION_APIS names a checkout)", () => {
  const apis = DIRECTORY === undefined ? undefined : new ExecutionApis(DIRECTORY);

  it("returns results that match the schemas", async () => {
    const { results } = await record(await openEvmChain());
    const shared = apis!.methods.filter((name) => own.has(name));
    expect(shared.filter((name) => !results.has(name))).toEqual([]);
    const faults = shared.flatMap((name) => {
      // The schema of a trace allows anything, because each tracer has its own format.
      const isTrace = name === "debug_traceTransaction";
      const validate = isTrace ? apis!.component("OpcodeTransactionTrace") : apis!.result(name);
      return results
        .get(name)!
        .flatMap(({ params, result }) => (validate(result) ? [] : { name, params, result, errors: validate.errors }));
    });
    expect(faults).toEqual([]);
  });

  it("accepts the parameters of their tests", async () => {
    const chain = await openEvmChain();
    // A range of logs must not extend beyond the head.
    await chain.advance(4);
    const exchanges = apis!.exchanges().filter(({ method, isError }) => own.has(method) && !isError);
    expect(exchanges).not.toEqual([]);
    const faults: string[] = [];
    for (const { file, method, params } of exchanges) {
      const error = await chain.error(method, params as Params).catch(() => undefined);
      if (error?.code === INVALID_PARAMS) faults.push(`${file}: ${error.message}`);
    }
    expect(faults).toEqual([]);
  });
});
