import { Address } from "@ethereumjs/util";
import { expect, it } from "vitest";
import { addressOf, bytesOf, GWEI, hexOf, optionsOf, TestChain } from "../../../test/support/evm/evm.ts";
import { MAX_BALANCE } from "../state/world.ts";

const RICH = addressOf(0x0a);
const FORWARDER = addressOf(0x0b);
const DESTROYED = addressOf(0x0c);
const FEES = addressOf(0x0d);
const WITHDRAWN = addressOf(0x0e);
const READER = addressOf(0x0f);

/** Sends its call value to RICH, and stores the result of the call in slot 0. */
const FORWARDER_CODE = `60006000600060003473${hexOf(RICH)}5af160005500`;
const DESTROYED_CODE = `73${hexOf(RICH)}ff`;
/** Stores BALANCE(RICH) in memory and in slot 0. */
const READER_CODE = `73${hexOf(RICH)}318060005260005500`;

it("credits an account up to 2^256 - 1 wei, by whichever way", async () => {
  const chain = await TestChain.open(optionsOf("osaka"), [
    { address: RICH, balance: MAX_BALANCE - 3n },
    { address: FORWARDER, code: bytesOf(FORWARDER_CODE), nonce: 1n },
    { address: DESTROYED, code: bytesOf(DESTROYED_CODE), nonce: 1n, balance: 100n },
    { address: FEES, balance: MAX_BALANCE - 1n },
    { address: WITHDRAWN, balance: MAX_BALANCE - GWEI },
    { address: READER, code: bytesOf(READER_CODE), nonce: 1n },
  ]);
  const parent = chain.head;
  const { reader } = chain.executor;
  const withdrawals = [1, 2].map((index) => ({ index, validatorIndex: 1, address: WITHDRAWN, amount: 1n }));
  const transactions = [
    chain.sign(0, { to: new Address(FORWARDER), value: 2n }),
    chain.sign(1, { to: new Address(FORWARDER), value: 2n }),
    chain.sign(2, { to: new Address(RICH), value: 5n }),
    chain.sign(3, { to: new Address(DESTROYED) }),
    chain.sign(4, { to: new Address(READER) }),
  ];
  const block = await chain.build(transactions, { withdrawals, feeRecipient: FEES });
  expect(block.receipts.map(({ succeeded }) => succeeded)).toEqual([true, true, true, true, true]);
  const account = (address: Uint8Array) => reader.account(block.world, address);
  for (const address of [RICH, FEES, WITHDRAWN]) expect(account(address)?.balance).toBe(MAX_BALANCE);
  for (const address of [FORWARDER, DESTROYED]) expect(account(address)?.balance).toBe(0n);
  const slot = (address: Uint8Array) => hexOf(reader.slot(account(address)!.storage, new Uint8Array(32)));
  expect([slot(FORWARDER), slot(READER)]).toEqual(["01", "ff".repeat(32)]);
  expect(hexOf((await chain.executor.execute(parent, block)).hash)).toBe(hexOf(block.hash));
});
