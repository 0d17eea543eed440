import { toRootHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { FORK, openEngines, rootOfSlot } from "../../../test/support/evm/engine/engines.ts";
import { addressOf, bytesOf, GWEI, hexOf } from "../../../test/support/evm/evm.ts";
import { EvmControl } from "../engine/evm-control.ts";
import type { EvmEngine } from "../engine/evm-engine.ts";
import { LocalEthService } from "../eth/local-eth-service.ts";

const ETHER = 10n ** 18n;
const OWNER = addressOf(7);
const TOKEN = addressOf(8);
const SLOT = new Uint8Array(32).fill(3);
const VALUE = new Uint8Array(32).fill(4);
/** Returns the caller's address. */
const CODE = bytesOf("3360005260206000f3");

const accountOf = (engine: EvmEngine, address: Uint8Array, block = engine.head) =>
  engine.executor.reader.account((block === engine.head ? engine.overridden(block) : block).world, address);

/** Creates a service with the engine's head as the latest block. */
function serviceOf(engine: EvmEngine) {
  const service = new LocalEthService(engine);
  const latest = toRootHex(engine.head.hash);
  // There are no subscriptions to wait for.
  void service.setTags({ latest, safe: latest, finalized: latest });
  return service;
}

it("applies overrides at once, records them with the next block, and applies them again after a restart", async () => {
  const { open, build, stored } = await openEngines();
  const first = open();
  await build(first, 1);
  await first.override({ address: OWNER, balance: 5n * ETHER });
  await first.override({ address: OWNER, balance: 3n * ETHER });
  await first.override({ address: OWNER, nonce: 9n });
  await first.override({ address: TOKEN, code: CODE });
  await first.override({ address: TOKEN, storage: [SLOT, VALUE] });
  const expectState = (engine: EvmEngine) => {
    expect(accountOf(engine, OWNER)).toMatchObject({ balance: 3n * ETHER, nonce: 9n });
    const { code, storage } = accountOf(engine, TOKEN)!;
    expect([code, engine.executor.reader.slot(storage, SLOT)]).toEqual([CODE, VALUE]);
  };
  expectState(first);
  expect(accountOf(first, OWNER, first.blocks.genesis)).toBeUndefined();
  // Restart before the next block.
  const second = open();
  await second.restore(toRootHex(first.head.hash));
  expectState(second);
  const hash = await build(second, 2);
  expectState(second);
  expect(second.overrides.pending).toEqual([]);
  await build(second, 3);
  await second.flush();
  const third = open();
  await third.restore(toRootHex(second.head.hash));
  expectState(third);
  expect(third.overrides.pending).toEqual([]);
  // The overrides are now stored with their block instead of as pending.
  const pending = JSON.parse(new TextDecoder().decode(stored.overrides.get("pending")));
  expect([pending.overrides, [...stored.overrides.keys()]]).toEqual([[], ["pending", hash]]);
});

it("moves the overrides of a lost branch to the next block of the new one", async () => {
  const { open, build } = await openEngines();
  const engine = open();
  const base = await build(engine, 1);
  const ancestor = engine.head;
  await engine.override({ address: OWNER, balance: 1n });
  await build(engine, 2);
  await engine.override({ address: OWNER, balance: 2n });
  await engine.override({ address: TOKEN, nonce: 4n });
  await build(engine, 3);
  expect(engine.overrides.pending).toEqual([]);
  await build(engine, 4, undefined, ancestor);
  expect(engine.head.header.number).toBe(2n);
  expect(engine.head.overrides).toHaveLength(3);
  expect(accountOf(engine, OWNER)?.balance).toBe(2n);
  expect(engine.overrides.pending).toEqual([]);
  const state = { safeBlockHash: base, finalizedBlockHash: base };
  await engine.forkchoiceUpdated(FORK, { ...state, headBlockHash: base });
  expect(engine.overrides.pending).toHaveLength(2);
  expect(accountOf(engine, OWNER)?.balance).toBe(2n);
  expect(accountOf(engine, TOKEN)?.nonce).toBe(4n);
});

it("deletes the records of blocks that did not become final, also after a restart", async () => {
  const { open, build, stored } = await openEngines();
  const records = () => [...stored.overrides.keys()].filter((key) => key !== "pending");
  const engine = open();
  await build(engine, 1);
  const ancestor = engine.head;
  await engine.override({ address: OWNER, balance: 1n });
  const lost = await build(engine, 2);
  const sibling = await build(engine, 3, undefined, ancestor);
  expect(records()).toEqual([lost, sibling]);
  await engine.override({ address: OWNER, balance: 2n });
  const next = await build(engine, 4);
  expect(records()).toEqual([lost, sibling, next]);
  await build(engine, 5, sibling);
  await engine.flush();
  expect(records()).toEqual([sibling, next]);

  const parent = engine.head;
  await engine.override({ address: OWNER, balance: 3n });
  const lostLater = await build(engine, 6);
  const head = await build(engine, 7, undefined, parent);
  expect(records()).toEqual([sibling, next, lostLater, head]);
  const second = open();
  await second.restore(head);
  await build(second, 8, head);
  await second.flush();
  expect(records()).toEqual([sibling, next, head]);
});

it("captures overrides and impersonated accounts", async () => {
  const { open, build } = await openEngines();
  const engine = open();
  const control = new EvmControl(engine);
  await control.override({ address: OWNER, balance: 1n });
  await control.setImpersonated(OWNER, true);
  const restore = engine.capture();
  await control.setImpersonated(OWNER, false);
  await control.override({ address: OWNER, balance: 2n });
  await build(engine, 1);
  restore();
  expect(accountOf(engine, OWNER)?.balance).toBe(1n);
  expect(engine.overrides.isImpersonated(OWNER)).toBe(true);
  await build(engine, 1);
  expect(accountOf(engine, OWNER)?.balance).toBe(1n);
});

it("sends transactions of an impersonated contract, and executes them again after a restart", async () => {
  const { open, build, payloads } = await openEngines();
  const first = open();
  const control = new EvmControl(first);
  await build(first, 1);
  await control.override({ address: TOKEN, code: CODE });
  await control.override({ address: TOKEN, balance: ETHER });
  const send = (gasPrice: bigint) =>
    serviceOf(first).call("sendTransaction", {
      transaction: { from: TOKEN, to: OWNER, value: 5n, gas: 21_000n, gasPrice },
    });
  await expect(send(9n * GWEI)).rejects.toThrow(`unknown account 0x${hexOf(TOKEN)}`);
  await control.setImpersonated(TOKEN, true);
  const hash = await send(9n * GWEI);
  const { transaction } = [...first.pool.content().values()][0]!.pending[0]!;
  expect(toRootHex(transaction.hash)).toBe(hash);
  const head = await build(first, 2);
  const expectTransfer = (engine: EvmEngine) => {
    expect(accountOf(engine, OWNER)?.balance).toBe(5n);
    expect(accountOf(engine, TOKEN)).toMatchObject({ code: CODE, nonce: 1n });
    expect(engine.head.transactions[0]!.sender.bytes).toEqual(TOKEN);
  };
  expectTransfer(first);
  const second = open();
  await second.restore(head);
  expectTransfer(second);
  expect(second.overrides.isImpersonated(TOKEN)).toBe(true);
  // Other nodes can send neither such a transaction nor such a block.
  await expect(second.addTransaction(transaction.raw)).rejects.toThrow("invalid sender");
  const { fork, payload, context } = payloads.get(toRootHex(rootOfSlot(2)))!;
  const { open: openOther } = await openEngines();
  const other = openOther();
  const block = payloads.get(toRootHex(rootOfSlot(1)))!;
  await other.notifyNewPayload(block.fork, block.payload, block.context);
  expect(await other.notifyNewPayload(fork, payload, context)).toMatchObject({
    status: "invalid",
    message: "Invalid transactions[0]: its signature is a placeholder.",
  });
});

it("replaces the base fee of the next block, and the gas limit from it on", async () => {
  const { open, build } = await openEngines();
  const engine = open();
  await build(engine, 1);
  await engine.override({ baseFeePerGas: 50n * GWEI });
  await engine.override({ gasLimit: 100_000_000n });
  expect(await serviceOf(engine).call("gasPrice", {})).toBe(`0x${(51n * GWEI).toString(16)}`);
  await build(engine, 2);
  expect(engine.head.header).toMatchObject({ baseFeePerGas: 50n * GWEI, gasLimit: 100_000_000n });
  const head = await build(engine, 3);
  expect(engine.head.header.gasLimit).toBe(100_000_000n);
  expect(engine.head.header.baseFeePerGas).toBeLessThan(50n * GWEI);
  const second = open();
  await second.restore(head);
  expect(second.head.header.number).toBe(3n);
});

it("drops transactions for good", async () => {
  const { chain, open, build, stored } = await openEngines();
  const engine = open();
  const control = new EvmControl(engine);
  const head = await build(engine, 1);
  const sent = [0, 1, 1, 2].map((account) => chain.signRaw(account, { gasLimit: 60_000n }));
  const hashes = [];
  for (const raw of sent) hashes.push((await engine.addTransaction(raw)).transaction);
  expect(control.executableCount()).toBe(4);
  expect(await control.dropTransaction(hashes[0]!.hash)).toBe(true);
  expect(await control.dropTransaction(hashes[0]!.hash)).toBe(false);
  await control.dropTransactions(hashes[1]!.sender.bytes);
  expect([control.executableCount(), stored.transactions.size]).toEqual([1, 1]);
  const second = open();
  await second.restore(head);
  expect(second.pool.size).toBe(1);
  await control.dropTransactions();
  expect([engine.pool.size, stored.transactions.size]).toEqual([0, 0]);
});
