import { expect, it } from "vitest";
import { account, hexOf, openEvmChain } from "../support/chain/evm-chain.ts";

const WITHDRAWAL_REQUESTS = "0x00000961ef480eb55e80d19ad83579a64c007002";
/** Logs a DepositEvent without data: PUSH32 topic, PUSH0, PUSH0, LOG1. */
const MALFORMED_EVENT = "0x7f649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c55f5fa1";
/** Stores the first word of its input; without input, returns as many bytes as the stored word says. */
const RETURNS_STORED_SIZE = "0x3615600a575f355f55005b5f545ff3";
const wordOf = (value: number) => `0x${value.toString(16).padStart(64, "0")}`;

type Opened = Awaited<ReturnType<typeof openEvmChain>>;

/** A chain without automine. */
async function openManual(): Promise<Opened> {
  const opened = await openEvmChain();
  await opened.call("evm_setAutomine", [false]);
  await opened.advance(1);
  return opened;
}

const send = ({ call }: Opened, from: number, to: string, data = "0x") =>
  call("eth_sendTransaction", [{ from: hexOf(account(from).address), to, data, gas: "0x30d40" }]);

async function hashesOfLatest({ call }: Opened): Promise<string[]> {
  return (await call("eth_getBlockByNumber", ["latest", false])).transactions;
}

it("drops a transaction whose deposit event makes the payload invalid, and includes the others", async () => {
  const opened = await openManual();
  const { call, advance, chain, devChain, complaints } = opened;
  const contract = hexOf(devChain.config.DEPOSIT_CONTRACT_ADDRESS);
  await call("anvil_setCode", [contract, MALFORMED_EVENT]);
  const first = await send(opened, 0, hexOf(account(5).address));
  const faulty = await send(opened, 1, contract);
  const last = await send(opened, 2, hexOf(account(5).address));
  await advance(1);
  expect(chain.head.slot).toBe(2);
  expect((await hashesOfLatest(opened)).toSorted()).toEqual([first, last].toSorted());
  const pool = await call("txpool_status");
  expect(pool).toEqual({ pending: "0x0", queued: "0x0" });
  await expect(call("eth_getTransactionReceipt", [faulty])).rejects.toThrow(
    `system contract ${contract} logged a deposit event with an invalid layout`,
  );
  expect(complaints.join("\n")).toMatch(`Dropped a transaction that no block can include  hash=${faulty}`);
  expect(complaints.join("\n")).toContain(contract);
  await advance(1);
  expect(chain.head.slot).toBe(3);
});

it("finds the transaction that lets a contract return too many requests", async () => {
  const opened = await openManual();
  const { call, advance, chain, complaints } = opened;
  await call("anvil_setCode", [WITHDRAWAL_REQUESTS, RETURNS_STORED_SIZE]);
  const others = [await send(opened, 0, WITHDRAWAL_REQUESTS, wordOf(76))];
  for (let from = 1; from < 6; from++) others.push(await send(opened, from, hexOf(account(9).address)));
  const faulty = await send(opened, 6, WITHDRAWAL_REQUESTS, wordOf(17 * 76));
  await advance(1);
  expect(chain.head.slot).toBe(2);
  expect((await hashesOfLatest(opened)).toSorted()).toEqual(others.toSorted());
  const reason = "made 17 withdrawal requests, a block holds at most 16";
  await expect(call("eth_getTransactionReceipt", [faulty])).rejects.toThrow(reason);
  expect(complaints.join("\n")).toContain(`system contract ${WITHDRAWAL_REQUESTS} ${reason}`);
});

it("leaves slots empty while a contract makes every payload invalid, names it, and keeps the pool", async () => {
  const opened = await openManual();
  const { call, advance, chain, complaints } = opened;
  const genuine = await call("eth_getCode", [WITHDRAWAL_REQUESTS]);
  await call("anvil_setCode", [WITHDRAWAL_REQUESTS, "0x"]);
  const pooled = await send(opened, 0, hexOf(account(9).address));
  await advance(2);
  expect(chain.head.slot).toBe(1);
  const named = complaints.filter((line) => line.includes(`system contract ${WITHDRAWAL_REQUESTS} has no code`));
  expect(named).toEqual([expect.stringContaining("Validator duty failed")]);
  await expect(call("eth_getBlockByNumber", ["pending", false])).rejects.toThrow(
    `No block can be built: system contract ${WITHDRAWAL_REQUESTS} has no code. Restore its code with anvil_setCode`,
  );
  await call("anvil_setCode", [WITHDRAWAL_REQUESTS, genuine]);
  await advance(1);
  expect(await hashesOfLatest(opened)).toEqual([pooled]);
});
