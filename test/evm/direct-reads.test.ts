import { Worker } from "node:worker_threads";
import { expect, it, onTestFinished, vi } from "vitest";
import { account, hexOf, openEvmChain } from "../support/chain/evm-chain.ts";

const [BALANCE_OF, TIME, NUMBER] = ["b1", "b2", "b3"].map((byte) => `0x${byte.repeat(20)}`) as [string, string, string];
/** Each returns one word: the balance of the address in the input, the time and the number of the block. */
const CODES = { [BALANCE_OF]: "0x5f35315f5260205ff3", [TIME]: "0x425f5260205ff3", [NUMBER]: "0x435f5260205ff3" };
const RECEIVER = `0x${"aa".repeat(20)}`;

/** A chain over HTTP whose thread for reads is connected to the servers' thread. */
async function openServed() {
  const opened = await openEvmChain({ servers: { jsonRpc: { host: "127.0.0.1", port: 0 } } });
  const url = opened.servers.jsonRpcUrl!;
  const call = async (method: string, ...params: unknown[]) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
    const { result, error } = (await response.json()) as { result: string; error?: { message: string } };
    if (error) throw new Error(error.message);
    return result;
  };
  for (const [address, code] of Object.entries(CODES)) await call("anvil_setCode", address, code);
  const fromMain = vi.spyOn(opened.devChain.evm!.eth, "call");
  onTestFinished(() => fromMain.mockRestore());
  const callsFromMain = () => fromMain.mock.calls.filter(([name]) => name === "call").length;
  const read = async (to: string, data = "0x", block = "latest") => Number(await call("eth_call", { to, data }, block));
  // Each call has another input, so no answer is cached.
  let input = 0;
  await expect
    .poll(async () => {
      const before = callsFromMain();
      await read(NUMBER, `0x${(++input).toString(16).padStart(8, "0")}`);
      return callsFromMain() - before;
    })
    .toBe(0);
  fromMain.mockClear();
  return { ...opened, url, call, read, callsFromMain };
}

const balanceInput = (address: string) => `0x${address.slice(2).padStart(64, "0")}`;

it("sees every acknowledged block, transaction, override, time and revert without the main thread", async () => {
  const { call, read, callsFromMain } = await openServed();
  const balance = () => read(BALANCE_OF, balanceInput(RECEIVER));
  const blockNumber = async () => Number(await call("eth_blockNumber"));
  const from = hexOf(account(0).address);
  for (let round = 1; round <= 5; round++) {
    await call("anvil_setBalance", RECEIVER, `0x${(round * 100).toString(16)}`);
    expect(await balance()).toBe(round * 100);
    const number = await read(NUMBER);
    // The second one is cached.
    expect(await read(NUMBER)).toBe(number);
    const snapshot = await call("evm_snapshot");
    await call("eth_sendTransaction", { from, to: RECEIVER, value: "0x7" });
    await call("evm_mine");
    expect([await balance(), await read(NUMBER)]).toEqual([round * 100 + 7, number + 1]);
    expect(await blockNumber()).toBe(number + 1);
    const time = (await read(TIME)) + 1000 * round;
    await call("evm_setNextBlockTimestamp", time);
    expect(await read(TIME, "0x", "pending")).toBe(time);
    await call("evm_revert", snapshot);
    expect([await balance(), await read(NUMBER)]).toEqual([round * 100, number]);
    expect(await blockNumber()).toBe(number);
  }
  expect(callsFromMain()).toBe(0);
  await expect(call("eth_call", { to: NUMBER, data: "0x" }, "0xffff")).rejects.toThrow("header not found");
  await expect(call("eth_call", { to: 1 })).rejects.toThrow("call");
});

it("answers while the main thread is blocked", async () => {
  const { url } = await openServed();
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const sendCall = `
    const { workerData: { url, flag, to } } = require("node:worker_threads");
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_call", params: [{ to, data: "0xb10c" }, "latest"] });
    fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body })
      .then((response) => response.json())
      .then(({ result }) => {
        flag[0] = BigInt(result) === 0n ? 1 : 2;
        Atomics.notify(flag, 0);
      });
  `;
  const client = new Worker(sendCall, { eval: true, workerData: { url, flag, to: NUMBER } });
  onTestFinished(async () => void (await client.terminate()));
  expect(Atomics.wait(flag, 0, 0, 20_000)).toBe("ok");
  expect(flag[0]).toBe(1);
});
