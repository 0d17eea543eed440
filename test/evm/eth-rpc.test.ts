import { JsonRpcProvider } from "ethers";
import { createPublicClient, createWalletClient, http, parseEther, webSocket } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { expect, it, onTestFinished } from "vitest";
import { TEST_MNEMONIC } from "../../src/evm/accounts.ts";
import { openEvmChain } from "../support/evm-chain.ts";
import { serveApi } from "../support/served-api.ts";
import { tempDirectory } from "../support/temp-directory.ts";

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
