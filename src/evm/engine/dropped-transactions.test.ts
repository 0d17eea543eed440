import { Address } from "@ethereumjs/util";
import { afterEach, expect, it, vi } from "vitest";
import { openEngines } from "../../../test/support/evm/engine/engines.ts";
import { addressOf, hexOf } from "../../../test/support/evm/evm.ts";
import { LocalEthService } from "../eth/local-eth-service.ts";
import { toHex } from "../execution/payload.ts";
import { WorldState } from "../state/world-state.ts";

const POISON = new Address(addressOf(0x66));

afterEach(() => vi.restoreAllMocks());

/** Makes the EVM fail when it credits an address. */
function poison(): void {
  const { putAccount } = WorldState.prototype;
  vi.spyOn(WorldState.prototype, "putAccount").mockImplementation(function (this: WorldState, address, account) {
    if (address.equals(POISON)) throw new TypeError("Cannot read the balance.");
    return putAccount.call(this, address, account);
  });
}

it("drops a transaction that the EVM fails to execute, and says why", async () => {
  const { chain, open, build, stored, logger } = await openEngines();
  const engine = open();
  const eth = new LocalEthService(engine);
  const other = await engine.addTransaction(chain.signRaw(1, { to: new Address(addressOf(1)), value: 1n }));
  const raw = chain.signRaw(0, { to: POISON, value: 1n });
  const { transaction } = await engine.addTransaction(raw);
  const hash = toHex(transaction.hash);
  const later = await engine.addTransaction(chain.signRaw(0, { to: new Address(addressOf(1)), value: 1n }));
  expect(await eth.call("getReceipt", { hash })).toBeNull();

  poison();
  const blockHash = await build(engine, 1);
  expect(engine.head.transactions.map((each) => hexOf(each.hash))).toEqual([hexOf(other.transaction.hash)]);
  expect(engine.pool.get(transaction.hash)).toBeUndefined();
  expect(engine.pool.counts()).toEqual({ pending: 0, queued: 1 });
  await engine.flush();
  expect([...stored.transactions.values()].map(hexOf)).not.toContain(hexOf(raw));
  const reason = "the EVM failed to execute it: Cannot read the balance.";
  await expect(eth.call("getReceipt", { hash })).rejects.toThrow(`transaction dropped: ${reason}`);
  const dropped = logger.records.filter(({ message }) => message === "Dropped a transaction that no block can include");
  expect(dropped.map(({ level, fields }) => [level, fields])).toEqual([
    [
      "warn",
      {
        hash,
        sender: transaction.sender.toString(),
        to: POISON.toString(),
        error: expect.objectContaining({ message: reason }),
      },
    ],
  ]);

  vi.restoreAllMocks();
  const restarted = open();
  await restarted.restore(blockHash);
  expect(hexOf(restarted.head.header.stateRoot)).toBe(hexOf(engine.head.header.stateRoot));

  // The transaction can be sent again.
  await engine.addTransaction(raw);
  expect(await eth.call("getReceipt", { hash })).toBeNull();
  await build(engine, 2);
  expect(engine.head.transactions.map((each) => each.hash)).toEqual([transaction.hash, later.transaction.hash]);
});
