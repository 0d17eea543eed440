import { JsonRpcProvider } from "ethers";
import { createPublicClient, createWalletClient, http, keccak256, parseEther, webSocket } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { expect, it, onTestFinished } from "vitest";
import { TEST_MNEMONIC } from "../../src/evm/accounts.ts";
import { serveApi } from "../support/api/served-api.ts";
import { hexOf, openEvmChain } from "../support/chain/evm-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const OTHER = "0x7777777777777777777777777777777777777777";
/** Emits a log with the topic 1 when it is deployed. */
const LOGGING_CODE = "0x600160006000a100";
const account = mnemonicToAccount(TEST_MNEMONIC);

async function serve(directory = tempDirectory()) {
  const opened = await openEvmChain({}, directory);
  const { jsonRpcUrl, close } = await serveApi(opened.devChain.api);
  onTestFinished(close);
  const transport = http(jsonRpcUrl);
  const client = createPublicClient({ chain: foundry, transport, pollingInterval: 10 });
  const wallet = createWalletClient({ chain: foundry, transport, account });
  return { ...opened, jsonRpcUrl, client, wallet };
}

it("serves viem and ethers: transfers, receipts, logs, fees and errors", async () => {
  const { client, wallet, advance, jsonRpcUrl } = await serve();
  expect(await client.getChainId()).toBe(31_337);
  const transfer = await wallet.sendTransaction({ to: OTHER, value: parseEther("1"), gas: 21_000n });
  const creation = await wallet.sendTransaction({ data: LOGGING_CODE, gas: 100_000n });
  await expect(wallet.sendTransaction({ to: OTHER, nonce: 0, gas: 21_000n })).rejects.toThrow(/replacement/i);
  await advance(1);
  const receipt = await client.waitForTransactionReceipt({ hash: transfer });
  expect(receipt).toMatchObject({ status: "success", blockNumber: 1n, to: OTHER });
  expect(await client.getBalance({ address: OTHER })).toBe(parseEther("1"));
  expect(await client.getBalance({ address: OTHER, blockNumber: 0n })).toBe(0n);
  const logs = await client.getLogs({ fromBlock: 0n });
  expect(logs).toMatchObject([{ transactionHash: creation, blockNumber: 1n, logIndex: 0, removed: false }]);
  await expect(wallet.sendTransaction({ to: OTHER, nonce: 0, gas: 21_000n })).rejects.toThrow(/nonce/i);
  const poor = wallet.sendTransaction({ to: OTHER, value: parseEther("20000"), gas: 21_000n });
  await expect(poor).rejects.toThrow(/exceeds the balance/i);

  const provider = new JsonRpcProvider(jsonRpcUrl, undefined, { staticNetwork: true });
  onTestFinished(() => provider.destroy());
  const block = await provider.getBlock("latest", true);
  expect(block?.prefetchedTransactions.map(({ hash }) => hash)).toEqual([transfer, creation]);
  const signer = await provider.getSigner();
  const sent = await signer.sendTransaction({ to: OTHER, value: 5n, gasLimit: 21_000n });
  await advance(1);
  expect(await (await provider.getTransaction(sent.hash))!.wait()).toMatchObject({ status: 1, blockNumber: 2 });
  expect((await provider.getFeeData()).maxFeePerGas).toBeGreaterThan(0n);
});

it("takes state overrides of 10,000 slots, which are larger than other calls", async () => {
  const { client } = await serve();
  const word = (n: number): `0x${string}` => `0x${n.toString(16).padStart(64, "0")}`;
  const account = `0x${"12".repeat(20)}` as const;
  // Returns the value of the slot in the call data.
  const code = "0x5f35545f5260205ff3" as const;
  const stateDiff = Array.from({ length: 10_000 }, (_, n) => ({ slot: word(n), value: word(n + 1) }));
  const stateOverride = [{ address: account, code, stateDiff }];
  expect(await client.call({ to: account, data: word(9999), stateOverride })).toEqual({ data: word(10_000) });
});

it("limits the topics of filters and of subscriptions, each and in all", async () => {
  const { client, jsonRpcUrl } = await serve();
  const socket = createPublicClient({ chain: foundry, transport: webSocket(jsonRpcUrl.replace("http", "ws")) });
  onTestFinished(async () => (await socket.transport.getRpcClient()).close());
  const filter = (count: number) => ({ topics: [Array<`0x${string}`>(count).fill(`0x${"11".repeat(32)}`), null] });
  const add = (count: number) => client.request({ method: "eth_newFilter", params: [filter(count)] });
  const subscribe = (count: number) =>
    socket.transport.subscribe({ params: ["logs", filter(count)], onData: () => {}, onError: () => {} });
  const two = { topics: [...filter(600).topics, ...filter(600).topics] };
  const tooMany = "filter or subscription has 1200, limit 1000";
  await expect(client.request({ method: "eth_newFilter", params: [two] })).rejects.toThrow(tooMany);
  const { unsubscribe } = await subscribe(1000);
  const ids = [];
  for (let n = 0; n < 99; n++) ids.push(await add(1000));
  const full = /in all filters and subscriptions: 100000 in use, 1 requested, limit 100000/;
  await expect(add(1)).rejects.toThrow(full);
  await expect(subscribe(1)).rejects.toThrow(full);
  await client.request({ method: "eth_uninstallFilter", params: [ids[0]! as never] });
  await subscribe(1);
  await unsubscribe();
  // The subscription ends in another thread.
  await expect.poll(() => add(1000).catch(() => null)).toMatch(/^0x/);
  await add(999);
});

it("delivers heads, logs and transactions over WebSocket, and marks logs that a reorganisation removed", async () => {
  const { wallet, advance, call, jsonRpcUrl } = await serve();
  const socket = createPublicClient({ chain: foundry, transport: webSocket(jsonRpcUrl.replace("http", "ws")) });
  onTestFinished(async () => (await socket.transport.getRpcClient()).close());
  const heads: unknown[] = [];
  const logs: { removed: boolean; blockNumber: string }[] = [];
  const transactions: unknown[] = [];
  await socket.transport.subscribe({ params: ["newHeads"], onData: ({ result }) => heads.push(result) });
  await socket.transport.subscribe({
    params: ["newPendingTransactions"],
    onData: ({ result }) => transactions.push(result),
  });
  const topics = [`0x${"1".padStart(64, "0")}`] as [`0x${string}`];
  const { unsubscribe } = await socket.transport.subscribe({
    params: ["logs", { topics }],
    onData: ({ result }) => logs.push(result),
  });
  const hash = await wallet.sendTransaction({ data: LOGGING_CODE, gas: 100_000n });
  await advance(1);
  await expect.poll(() => [heads.length, logs.length, transactions]).toEqual([1, 1, [hash]]);
  await call("dev_reorg", { depth: 1 });
  await expect.poll(() => logs.map(({ removed }) => removed)).toEqual([false, true, false]);
  expect(await unsubscribe()).toMatchObject({ result: true });
});

it("answers eth_sendRawTransactionSync with the receipt, or an error with the hash after the timeout", async () => {
  const { call, error, advance, sign, pooled } = await serve();
  const to = new Uint8Array(20).fill(0x77);
  const sent = call("eth_sendRawTransactionSync", [hexOf(sign(0, { to })), 60_000]);
  await expect.poll(pooled).toBe(1);
  await advance(1);
  expect(await sent).toMatchObject({ status: "0x1", blockNumber: "0x1" });
  const late = hexOf(sign(0, { to }));
  expect(await error("eth_sendRawTransactionSync", [late, "0x1"])).toEqual({
    code: 4,
    message: "The transaction was added to the transaction pool but wasn't processed in 1 ms",
    data: keccak256(late),
  });
});

it("announces the head that the chain is reverted to", async () => {
  const { advance, call, jsonRpcUrl } = await serve();
  await advance(1);
  const snapshot = await call("evm_snapshot");
  await advance(1);
  const socket = createPublicClient({ chain: foundry, transport: webSocket(jsonRpcUrl.replace("http", "ws")) });
  onTestFinished(async () => (await socket.transport.getRpcClient()).close());
  const heads: string[] = [];
  await socket.transport.subscribe({ params: ["newHeads"], onData: ({ result }) => heads.push(result.number) });
  await call("evm_revert", [snapshot]);
  await expect.poll(() => heads).toEqual(["0x1"]);
  await advance(1);
  await expect.poll(() => heads).toEqual(["0x1", "0x2"]);
});

it("answers for the pending block as the next slot makes it, also after skipped time", async () => {
  const { call, advance, wallet, client, chain } = await serve();
  // Rewards of the first epochs are withdrawn.
  await advance(20);
  const { timestamp } = await client.getBlock();
  const { secondsPerSlot } = chain.clock;
  await call("evm_increaseTime", [2 * secondsPerSlot]);
  await wallet.sendTransaction({ to: OTHER, value: 1n, gas: 21_000n });
  // TIMESTAMP of the pending block.
  const seen = await call("eth_call", [{ data: "0x4260005260206000f3" }, "pending"]);
  // Reverts before a time: PUSH4 time, TIMESTAMP, LT, ISZERO, PUSH1 16, JUMPI, REVERT(0, 0), JUMPDEST, STOP
  const time = (Number(timestamp) + 3 * secondsPerSlot).toString(16).padStart(8, "0");
  const lock = { from: account.address, data: `0x63${time}42101560105760006000fd5b00` };
  await call("eth_estimateGas", [lock]);
  const pending = await call("eth_getBlockByNumber", ["pending", false]);
  await advance(1);
  const mined = await call("eth_getBlockByNumber", ["latest", false]);
  expect(mined.withdrawals.length).toBeGreaterThan(0);
  expect(pending).toEqual({ ...mined, hash: null, nonce: null, miner: null });
  expect(BigInt(seen)).toBe(BigInt(mined.timestamp));
});

it("reads finalized blocks and receipts after a restart", async () => {
  const directory = tempDirectory();
  const first = await serve(directory);
  const hash = await first.wallet.sendTransaction({ data: LOGGING_CODE, gas: 100_000n });
  await first.advance(40);
  const finalized = await first.client.getBlock({ blockTag: "finalized" });
  expect(finalized.number).toBeGreaterThan(10n);
  const receipt = await first.client.getTransactionReceipt({ hash });
  await first.close();
  const { client, engine } = await serve(directory);
  expect(await client.getBlock({ blockTag: "finalized" })).toEqual(finalized);
  expect(await client.getTransactionReceipt({ hash })).toEqual(receipt);
  expect(await engine.archive!.byNumber(1n)).toMatchObject({ header: { number: 1n } });
  expect(await client.getLogs({ fromBlock: 0n })).toHaveLength(1);
});
