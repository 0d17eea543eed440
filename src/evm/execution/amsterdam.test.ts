import { Address } from "@ethereumjs/util";
import type { gloas } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { addressOf, bytesOf, GENESIS_TIME, hexOf, optionsOf, TestChain } from "../../../test/support/evm/evm.ts";
import { SCENARIO_ACCOUNTS, scenarioTransactions } from "../../../test/support/evm/execution/scenario.ts";
import { overrideState } from "../overrides/override.ts";
import { asBigint, asBytes, asList, decode, type RlpItem } from "../rlp.ts";
import { BUILDER_DEPOSITS } from "../system-addresses.ts";
import type { ExecutedBlock } from "./block.ts";
import { encodeHeader } from "./header.ts";
import { fromPayload, type PayloadContext, toPayload } from "./payload.ts";
import { versionedHashesOf } from "./transaction.ts";

const NEW_ACCOUNT_GAS = 120n * 1530n;
const NEW_SLOT_GAS = 64n * 1530n;
/** Stores 1 in slot 0 if it is called with data, else 0. */
const STORE_CODE = "3615155f5500";
const STORE = addressOf(0x77);
const to = (bytes: Uint8Array) => new Address(bytes);

function contextOf({ header, requests, transactions }: ExecutedBlock): PayloadContext {
  const { parentBeaconBlockRoot } = header;
  return { parentBeaconBlockRoot, requests, versionedHashes: versionedHashesOf(transactions) };
}

/** Decodes the entry of an account in the block's access list; undefined if there is none. */
function entryOf({ blockAccessList }: ExecutedBlock, address: Uint8Array) {
  const entries = asList(decode(blockAccessList!)).map(asList);
  const entry = entries.find(([key]) => hexOf(asBytes(key)) === hexOf(address));
  if (entry === undefined) return undefined;
  const changes = (item: RlpItem | undefined) => asList(item).map((change) => asList(change).map(asBigint));
  const [, writes, reads, balances, nonces, codes] = entry;
  return {
    writes: asList(writes).map((write) => {
      const [slot, values] = asList(write);
      return [asBigint(slot), changes(values)];
    }),
    reads: asList(reads).map(asBigint),
    balances: changes(balances),
    nonces: changes(nonces),
    codes: asList(codes).length,
  };
}

describe("blocks of Amsterdam", () => {
  it("follow those of Osaka, with inhibited contracts of builders until then", async () => {
    const options = optionsOf("osaka", { amsterdam: GENESIS_TIME + 24 });
    const slots = { genesisTime: GENESIS_TIME, seconds: 12 };
    const chain = await TestChain.open({ ...options, slots }, SCENARIO_ACCOUNTS);
    const deposit = () => chain.sign(8, { to: to(BUILDER_DEPOSITS), value: 10n ** 18n, data: new Uint8Array(184) });
    const before = await chain.build([deposit(), ...scenarioTransactions(chain, "osaka", 0)]);
    expect(before.receipts[0]!.succeeded).toBe(false);
    expect(before.header).not.toHaveProperty("slotNumber");
    expect(before.blockAccessList).toBeUndefined();
    // The first block calls the contracts at its end, so its own requests still fail.
    const first = await chain.build([deposit()]);
    expect(first.header.slotNumber).toBe(2n);
    expect(first.receipts[0]!.succeeded).toBe(false);
    const second = await chain.build(scenarioTransactions(chain, "amsterdam", 1));
    expect(second.requests?.map(([type]) => type)).toEqual([0, 1, 2, 3, 4]);
    expect(second.requests?.slice(3).map(({ length }) => length - 1)).toEqual([184, 68]);
    const [block] = await Promise.all([chain.build(), chain.executor.execute(first, second)]);
    expect(block.requests).toEqual([]);
  });

  it("have the hash of their access list and the slot in the header, and both in the payload", async () => {
    const chain = await TestChain.open(optionsOf("amsterdam"), SCENARIO_ACCOUNTS);
    const parent = await chain.build();
    const block = await chain.build(scenarioTransactions(chain, "amsterdam", 3), { slotNumber: 7 });
    const { keccak } = chain.rules.crypto;
    expect(asList(decode(encodeHeader(block.header))).length).toBe(23);
    expect(hexOf(block.header.blockAccessListHash!)).toBe(hexOf(keccak(block.blockAccessList!)));
    const payload = toPayload(block) as gloas.ExecutionPayload;
    expect([payload.slotNumber, payload.blockAccessList]).toEqual([7, block.blockAccessList]);
    const verified = await chain.executor.verify(parent, payload, contextOf(block));
    expect(hexOf(verified.hash)).toBe(hexOf(block.hash));
    // The code deployed last is the slot number.
    const { contractAddress } = block.receipts.at(-1)!;
    expect(chain.executor.reader.account(block.world, contractAddress!)?.code.at(-1)).toBe(7);
    for (const blockAccessList of [new Uint8Array([...payload.blockAccessList, 0]), Uint8Array.of(0xc0)]) {
      const changed = { ...payload, blockAccessList };
      const rules = chain.rules.at(payload.timestamp);
      let content = "";
      try {
        fromPayload(changed, contextOf(block), rules);
      } catch (error) {
        content = /the content has 0x([0-9a-f]+)/.exec((error as Error).message)![1]!;
      }
      const sealed = { ...changed, blockHash: bytesOf(content) };
      await expect(chain.executor.verify(parent, sealed, contextOf(block))).rejects.toThrow("Invalid blockAccessList");
    }
    const { blockAccessList: _, ...incomplete } = payload;
    await expect(chain.executor.verify(parent, incomplete, contextOf(block))).rejects.toThrow(
      "Invalid blockAccessList: missing in this fork.",
    );
  });

  it("count gas in two dimensions, of which the header has the larger", async () => {
    const chain = await TestChain.open(optionsOf("amsterdam"));
    // Enough for the transfer itself, but not for the new account.
    const poor = chain.sign(0, { to: to(addressOf(1)), value: 1n, gasLimit: 21_000n });
    const rich = chain.sign(1, { to: to(addressOf(1)), value: 1n, gasLimit: 21_000n + NEW_ACCOUNT_GAS });
    const again = chain.sign(2, { to: to(addressOf(1)), value: 1n, gasLimit: 21_000n });
    const { receipts, header } = await chain.build([poor, rich, again]);
    expect(receipts.map(({ succeeded }) => succeeded)).toEqual([false, true, true]);
    expect(receipts.map(({ gasUsed }) => gasUsed)).toEqual([21_000n, 21_000n + NEW_ACCOUNT_GAS, 21_000n]);
    expect(receipts[1]!.logs.map(({ address }) => hexOf(address))).toEqual([`${"f".repeat(39)}e`]);
    expect(header.gasUsed).toBe(NEW_ACCOUNT_GAS);
  });

  it("include what fits into both dimensions", async () => {
    const chain = await TestChain.open(optionsOf("amsterdam"));
    const self = chain.sign(0, { to: to(addressOf(1)), value: 1n, gasLimit: 250_000n });
    // More than any transaction may execute (EIP-7825); the rest is for new state.
    const large = chain.sign(1, { to: to(addressOf(1)), value: 1n, gasLimit: 29_700_000n });
    const late = chain.sign(2, { to: to(addressOf(1)), value: 1n, gasLimit: 29_900_000n });
    const { transactions } = await chain.build([self, large, late]);
    expect(transactions).toEqual([self, large]);
  });
});

describe("the access list of a block", () => {
  const accounts = [{ address: STORE, code: bytesOf(STORE_CODE), nonce: 1n }];

  it("has the changes of each transaction, without those undone in the same transaction", async () => {
    const chain = await TestChain.open(optionsOf("amsterdam"), accounts);
    const set = () => chain.sign(0, { to: to(STORE), data: Uint8Array.of(1) });
    const clear = () => chain.sign(0, { to: to(STORE) });
    const block = await chain.build([set(), set(), clear()]);
    expect(entryOf(block, STORE)).toEqual({
      writes: [
        [
          0n,
          [
            [1n, 1n],
            [3n, 0n],
          ],
        ],
      ],
      reads: [],
      balances: [],
      nonces: [],
      codes: 0,
    });
    const sender = entryOf(block, block.transactions[0]!.sender.bytes)!;
    expect(sender.nonces).toEqual([
      [1n, 1n],
      [2n, 2n],
      [3n, 3n],
    ]);
    expect(sender.balances.map(([index]) => index)).toEqual([1n, 2n, 3n]);
    const again = await chain.build([clear()]);
    expect(entryOf(again, STORE)).toMatchObject({ writes: [], reads: [0n] });
  });

  it("has withdrawals after the transactions, and the system contracts before and after", async () => {
    const chain = await TestChain.open(optionsOf("amsterdam"));
    const withdrawals = [
      { index: 0, validatorIndex: 1, address: addressOf(1), amount: 5n },
      { index: 1, validatorIndex: 2, address: addressOf(2), amount: 0n },
    ];
    const block = await chain.build([chain.sign(0, { to: to(addressOf(3)) })], { withdrawals });
    expect(entryOf(block, addressOf(1))?.balances).toEqual([[2n, 5n * 10n ** 9n]]);
    expect(entryOf(block, addressOf(2))?.balances).toEqual([]);
    expect(entryOf(block, BUILDER_DEPOSITS)?.reads).toEqual([0n, 1n, 2n, 3n]);
    expect(entryOf(block, bytesOf("0000f90827f1c53a10cb7a02335b175320002935"))?.writes.length).toBe(1);
    expect(entryOf(block, bytesOf(`${"f".repeat(39)}e`))).toBeUndefined();
  });

  it("has overrides as the first changes", async () => {
    const chain = await TestChain.open(optionsOf("amsterdam"), accounts);
    const parent = await chain.build();
    const slot = new Uint8Array(32).fill(3);
    const changes = [
      { address: addressOf(5), balance: 7n },
      { address: STORE, storage: [slot, new Uint8Array(32).fill(1)] as const },
      { address: addressOf(6), nonce: 4n, code: bytesOf("00") },
    ];
    const state = overrideState(parent, changes.slice(0, 1), chain.rules.crypto.keccak);
    const overridden = overrideState(state, changes.slice(1), chain.rules.crypto.keccak);
    const block = await chain.executor.build(overridden, chain.attributes());
    expect(entryOf(block, addressOf(5))?.balances).toEqual([[0n, 7n]]);
    expect(entryOf(block, STORE)?.writes).toEqual([
      [BigInt(`0x${hexOf(slot)}`), [[0n, BigInt(`0x${"01".repeat(32)}`)]]],
    ]);
    expect(entryOf(block, addressOf(6))).toMatchObject({ nonces: [[0n, 4n]], codes: 1 });
    expect(hexOf((await chain.executor.execute(overridden, block)).hash)).toBe(hexOf(block.hash));
    await expect(chain.executor.execute(parent, block)).rejects.toThrow("Invalid blockAccessList");
  });

  it("is limited by the gas limit", async () => {
    const chain = await TestChain.open(optionsOf("amsterdam"));
    await expect(chain.build([], { gasLimit: 30_000n })).rejects.toThrow(
      /the block accesses 25 accounts and slots, its gas limit of 30000 allows 15/,
    );
  });
});

describe("state gas that is paid from the gas of a message", () => {
  /** Calls `STORE` with and without data, so that it sets and clears its slot; then returns GAS. */
  const CALLER_CODE = [
    ...["5f5f60015f5f60775af150", "5f5f5f5f5f60775af150"].map((call) => call.replace("6077", "611077")),
    "5a5f5260205ff3",
  ].join("");

  it("is repaid from the reservoir when another message has returned it", async () => {
    const caller = { address: addressOf(0x78), code: bytesOf(CALLER_CODE), nonce: 1n };
    const chain = await TestChain.open(optionsOf("amsterdam"), [...accountsOfStore(), caller]);
    const rules = chain.rules.at(chain.attributes().timestamp);
    const gasLimit = 500_000n;
    const { returnValue } = await rules.withMachine(async (machine) => {
      machine.state.open(chain.head.world);
      const { execResult } = await machine.vm.evm.runCall({ to: to(caller.address), gasLimit });
      return execResult;
    });
    const left = BigInt(`0x${hexOf(returnValue)}`);
    // Without the repayment, the state gas of the slot would be missing.
    expect(gasLimit - left).toBeLessThan(NEW_SLOT_GAS);
  });

  it("is not charged for a creation that fails before it starts", async () => {
    // Creates an account with more than the balance, with less gas than the account would cost.
    const creator = { address: addressOf(0x79), code: bytesOf("5f5f60fff05f5260205ff3"), nonce: 1n };
    const chain = await TestChain.open(optionsOf("amsterdam"), [creator]);
    const rules = chain.rules.at(chain.attributes().timestamp);
    const { returnValue, exceptionError } = await rules.withMachine(async (machine) => {
      machine.state.open(chain.head.world);
      return (await machine.vm.evm.runCall({ to: to(creator.address), gasLimit: 100_000n })).execResult;
    });
    expect([exceptionError, hexOf(returnValue)]).toEqual([undefined, "00".repeat(32)]);
  });

  const accountsOfStore = () => [{ address: STORE, code: bytesOf(STORE_CODE), nonce: 1n }];
});
