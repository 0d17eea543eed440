import { expect, it } from "vitest";
import { ANY_STATUS, statusSet } from "../json/validator-status.ts";
import { BALANCE_BYTES, VALIDATORS_PER_CHUNK } from "../json/writers/registry-chunks.ts";
import { VALIDATOR_BYTES, VALIDATOR_FIELDS } from "../ssz/validator-layout.ts";
import { orderValidators, type Registry, type RegistryQuery } from "./registry-order.ts";

const FAR_FUTURE = 2n ** 64n - 1n;

interface Entry {
  balance?: bigint;
  effectiveBalance?: bigint;
  exitEpoch?: bigint;
  keyStart?: number;
}

/** Creates a registry in epoch 10. */
function registryOf(entries: readonly Entry[]): Registry {
  const validators: SharedArrayBuffer[] = [];
  const balances: SharedArrayBuffer[] = [];
  for (let from = 0; from < entries.length; from += VALIDATORS_PER_CHUNK) {
    const part = entries.slice(from, from + VALIDATORS_PER_CHUNK);
    validators.push(new SharedArrayBuffer(part.length * VALIDATOR_BYTES));
    balances.push(new SharedArrayBuffer(part.length * BALANCE_BYTES));
    const records = new DataView(validators.at(-1)!);
    const amounts = new DataView(balances.at(-1)!);
    for (const [position, { balance, effectiveBalance, exitEpoch, keyStart }] of part.entries()) {
      const at = position * VALIDATOR_BYTES;
      amounts.setBigUint64(position * BALANCE_BYTES, balance ?? 0n, true);
      records.setUint16(at + VALIDATOR_FIELDS.pubkey, keyStart ?? 0);
      records.setBigUint64(at + VALIDATOR_FIELDS.effectiveBalance, effectiveBalance ?? 0n, true);
      records.setBigUint64(at + VALIDATOR_FIELDS.exitEpoch, exitEpoch ?? FAR_FUTURE, true);
      records.setBigUint64(at + VALIDATOR_FIELDS.withdrawableEpoch, FAR_FUTURE, true);
    }
  }
  return { validators, balances, epoch: 10 };
}

const order = async (entries: readonly Entry[], query: Partial<RegistryQuery>) =>
  Array.from(
    await orderValidators(registryOf(entries), { sort: "index", statuses: ANY_STATUS, pubkeyPrefix: "", ...query }),
  );

it("sorts by any 64-bit key, and by index among equal keys", async () => {
  const balances = [5n, 2n ** 40n, 5n, 0n, 70_000n, 2n ** 33n + 1n];
  expect(
    await order(
      balances.map((balance) => ({ balance })),
      { sort: "balance" },
    ),
  ).toEqual([3, 0, 2, 4, 5, 1]);
  expect(await order([{ exitEpoch: FAR_FUTURE }, { exitEpoch: 12n }], { sort: "exit_epoch" })).toEqual([1, 0]);
  expect(await order([], { sort: "effective_balance" })).toEqual([]);
});

it("sorts across chunks like a comparison sort", async () => {
  const entries = Array.from({ length: VALIDATORS_PER_CHUNK + 500 }, (_, index) => ({
    effectiveBalance: BigInt((index * 7919) % 1009) * 1_000_000_007n,
  }));
  const expected = entries
    .map(({ effectiveBalance }, index) => ({ effectiveBalance, index }))
    .sort((a, b) => Number(a.effectiveBalance - b.effectiveBalance) || a.index - b.index)
    .map(({ index }) => index);
  expect(await order(entries, { sort: "effective_balance" })).toEqual(expected);
});

it("filters by status and by the start of the public key", async () => {
  const entries = [{ exitEpoch: 5n }, { keyStart: 0xabc0 }, { exitEpoch: 50n, keyStart: 0xabd0 }];
  expect(await order(entries, { statuses: statusSet(["exited"]) })).toEqual([0]);
  expect(await order(entries, { statuses: statusSet(["active"]) })).toEqual([1, 2]);
  expect(await order(entries, { pubkeyPrefix: "ab" })).toEqual([1, 2]);
  expect(await order(entries, { pubkeyPrefix: "abd" })).toEqual([2]);
});

it("stops when it is abandoned", async () => {
  const registry = registryOf([{}]);
  const query = { sort: "balance", statuses: ANY_STATUS, pubkeyPrefix: "" } as const;
  const abandoned = () => {
    throw new Error("abandoned");
  };
  await expect(orderValidators(registry, query, abandoned)).rejects.toThrow("abandoned");
});
