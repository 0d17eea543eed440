import { Address } from "@ethereumjs/util";
import { expect, it } from "vitest";
import { openEngines } from "../../../test/support/evm/engine/engines.ts";
import { addressOf, GENESIS_TIME, hexOf, SLOT_SECONDS, type TestChain } from "../../../test/support/evm/evm.ts";

const startOf = (slot: number) => GENESIS_TIME + slot * SLOT_SECONDS;
const transfer = (chain: TestChain, account = 0) =>
  chain.signRaw(account, { to: new Address(addressOf(5)), value: 1n, gasLimit: 21_000n });

it("a reverted engine has its head, its finalized block, its pool and its next slot again", async () => {
  const { chain, open, build } = await openEngines();
  const engine = open();
  const first = await build(engine, 1);
  engine.setNextSlot(startOf(5));
  const { transaction } = await engine.addTransaction(transfer(chain));
  const standing = () => ({
    head: hexOf(engine.head.hash),
    finalized: hexOf(engine.finalized.hash),
    next: engine.nextTimestamp(engine.head),
    pooled: [...engine.executable()].map(({ hash }) => hexOf(hash)),
  });
  const before = standing();
  expect(before).toMatchObject({ next: startOf(5), pooled: [hexOf(transaction.hash)] });
  const restore = engine.capture();
  engine.setNextSlot(startOf(9));
  await build(engine, 9);
  await build(engine, 10, first);
  expect(standing()).not.toMatchObject({ head: before.head, finalized: before.finalized });
  restore();
  expect(standing()).toEqual(before);
});

it("a reverted engine has the blocks since its finalized block again, also if they were pruned", async () => {
  const { open, build } = await openEngines();
  const engine = open();
  const hashes: string[] = [];
  for (let slot = 1; slot <= 3; slot++) hashes.push(await build(engine, slot));
  const restore = engine.capture();
  for (let slot = 4; slot <= 133; slot++) hashes.push(await build(engine, slot));
  await build(engine, 134, hashes.at(-1));
  expect(engine.blocks.get(hashes[1]!)).toBeUndefined();
  restore();
  expect(engine.blocks.branchAbove(0n, engine.head).map(({ hash }) => `0x${hexOf(hash)}`)).toEqual(hashes.slice(0, 3));
});

it("a transaction that is dropped after a revert is deleted from the database, also if it was final before", async () => {
  const { chain, open, build, stored } = await openEngines();
  const engine = open();
  const { transaction } = await engine.addTransaction(transfer(chain));
  const transactions = [...stored.transactions];
  const restore = engine.capture();
  const included = await build(engine, 1);
  await build(engine, 2, included);
  await engine.flush();
  expect(stored.transactions.size).toBe(0);
  // Revert the database as well.
  for (const [number, sent] of transactions) stored.transactions.set(number, sent);
  restore();
  expect(engine.pool.get(transaction.hash)).toBeDefined();
  expect(await engine.dropped.drop([transaction.hash])).toBe(1);
  expect(stored.transactions.size).toBe(0);
});

it("a transaction that is added after a restart replaces no stored one", async () => {
  const { chain, open, build, stored } = await openEngines();
  const first = open();
  const head = await build(first, 1);
  const sent = [0, 1, 2].map((account) => transfer(chain, account));
  const [gone] = await Promise.all([first.addTransaction(sent[0]!), first.addTransaction(sent[1]!)]);
  await first.dropped.drop([gone.transaction.hash]);
  const second = open();
  await second.restore(head);
  await second.addTransaction(sent[2]!);
  expect([...stored.transactions.values()].map(hexOf)).toEqual(sent.slice(1).map(hexOf));
});
