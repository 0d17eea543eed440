import { expect, it } from "vitest";
import { account, bytesOf, GWEI, openEvmChain } from "../support/chain/evm-chain.ts";

const RECEIVER = new Uint8Array(20).fill(0x77);
/** JUMPDEST, PUSH1 0, JUMP. */
const ENDLESS_LOOP = bytesOf("5b600056");
/** Stores a word at the end of a memory of 2^64 bytes. */
const MEMORY_BOMB = bytesOf("600067ffffffffffffffff52");
const INVALID_OPCODE = bytesOf("fe");
/** Reverts without data. */
const REVERT = bytesOf("60006000fd");
const GAS_LIMIT = 400_000n;
const MAX_SIZE = 128 * 1024;
/** Leaves room for the other fields. */
const HUGE = new Uint8Array(MAX_SIZE - 200);

it("includes failing transactions, which pay for their gas and change nothing else", async () => {
  const { send, advance, receipts, balance, nonce, pooled, expectHealth } = await openEvmChain();
  const programs = [ENDLESS_LOOP, MEMORY_BOMB, INVALID_OPCODE, REVERT];
  for (const [from, data] of programs.entries()) await send(from, { data, value: 5n, gasLimit: GAS_LIMIT });
  await send(4, { to: RECEIVER, data: HUGE, value: 7n, gasLimit: 10_000_000n });
  await advance(1);
  const [endless, bomb, invalid, revert, huge] = await receipts();
  for (const receipt of [endless, bomb, invalid]) {
    expect(receipt).toMatchObject({ succeeded: false, gasUsed: GAS_LIMIT, logs: [] });
  }
  expect(revert!.succeeded).toBe(false);
  expect(revert!.gasUsed).toBeLessThan(100_000n);
  // EIP-7623: ten gas for each zero byte.
  expect(huge).toMatchObject({ succeeded: true, gasUsed: 21_000n + 10n * BigInt(HUGE.length) });
  for (const from of programs.keys()) {
    const { address } = account(from);
    expect([await nonce(address), 10_000n * 10n ** 18n - (await balance(address))]).toEqual([
      1n,
      (await receipts())[from]!.gasUsed * (await receipts())[from]!.effectiveGasPrice,
    ]);
  }
  expect([await balance(RECEIVER), await pooled()]).toEqual([7n, 0]);
  await advance(1);
  expectHealth();
});

it("refuses invalid transactions, and keeps underpriced ones until the base fee has fallen", async () => {
  const { send, sign, sendRaw, advance, balance, pooled, expectHealth } = await openEvmChain();
  const transfer = { to: RECEIVER, value: 1n };
  await expect(sendRaw(bytesOf("05c0"))).rejects.toThrow("transaction type not supported");
  await expect(sendRaw(new Uint8Array(0))).rejects.toThrow("invalid transaction");
  await expect(sendRaw(new Uint8Array(1024).fill(0xf9))).rejects.toThrow("invalid transaction");
  await expect(sendRaw(sign(0, { ...transfer, data: new Uint8Array(MAX_SIZE) }))).rejects.toThrow("oversized data");
  await expect(sendRaw(sign(0, { ...transfer, value: 10n ** 30n }))).rejects.toThrow("insufficient funds");
  await expect(sendRaw(sign(0, { ...transfer, gasLimit: 20_000n }))).rejects.toThrow("intrinsic gas too low");
  await expect(sendRaw(sign(0, { ...transfer, data: HUGE }))).rejects.toThrow("intrinsic gas too low");
  const forged = sign(0, transfer);
  // The signature is valid for another sender, which has no funds.
  forged[forged.length - 1]! ^= 1;
  await expect(sendRaw(forged)).rejects.toThrow(/insufficient funds|invalid sender/);
  expect(await pooled()).toBe(0);

  const fees = { maxFeePerGas: (8n * GWEI) / 10n, maxPriorityFeePerGas: 0n };
  await send(0, { ...transfer, ...fees });
  await send(1, { ...transfer, value: 10n });
  await advance(1);
  expect([await pooled(), await balance(RECEIVER)]).toEqual([1, 10n]);
  await advance(2);
  expect([await pooled(), await balance(RECEIVER)]).toEqual([0, 11n]);
  expectHealth();
});

it("accepts transactions and reverts while blocks are executed", async () => {
  const { send, advance, call, balance, nonce, pooled, expectHealth } = await openEvmChain();
  await advance(1);
  const snapshot = await call("dev_snapshot");
  const data = ENDLESS_LOOP;
  for (let from = 0; from < 4; from++) await send(from, { data, gasLimit: GAS_LIMIT });
  const sending = async () => {
    for (let sent = 0; sent < 20; sent++) await send(5, { to: RECEIVER, value: 1n });
  };
  await Promise.all([advance(4), sending()]);
  await advance(1);
  expect([await balance(RECEIVER), await nonce(account(5).address), await pooled()]).toEqual([20n, 20n, 0]);
  // A revert waits for the running slots.
  for (let from = 0; from < 4; from++) await send(from, { data, gasLimit: GAS_LIMIT });
  await Promise.all([advance(2), call("dev_revert", [snapshot])]);
  expect([await balance(RECEIVER), await nonce(account(5).address), await pooled()]).toEqual([0n, 0n, 0]);
  await send(5, { to: RECEIVER, value: 3n });
  await advance(1);
  expect(await balance(RECEIVER)).toBe(3n);
  expectHealth();
});
