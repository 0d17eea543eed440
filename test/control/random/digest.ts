import { expect } from "vitest";
import { VAULT_SLOTS, VAULTS } from "./accounts.ts";
import { balanceSum } from "./contracts.ts";
import { type Hex, quantity } from "./json.ts";
import type { Scenario, Snapshot } from "./scenario.ts";

const MAX_ADDRESSES = 40;

type Digest = Snapshot["digest"];

/** Compares the chain with an earlier digest. */
export async function expectSame(scenario: Scenario, before: Digest, moment: string): Promise<void> {
  const after = await digestOf(scenario, before.addresses as Hex[]);
  const changed = Object.keys(before).filter((read) => JSON.stringify(before[read]) !== JSON.stringify(after[read]));
  const pick = (digest: Digest) => Object.fromEntries(changed.map((read) => [read, digest[read]]));
  expect(pick(after), moment).toEqual(pick(before));
}

/** Reads of a chain that are equal after a restart, and after a revert to a snapshot. */
export async function digestOf(
  { chain, ledger, overrides, canonical }: Scenario,
  addresses: readonly Hex[] = ledger.addresses.slice(0, MAX_ADDRESSES),
): Promise<Digest> {
  const pools = ["voluntary_exits", "proposer_slashings", "bls_to_execution_changes"];
  const vaults = VAULTS.flatMap((address) => [
    ["eth_getCode", [address, "latest"]],
    ...Array.from({ length: VAULT_SLOTS }, (_, slot) => ["eth_getStorageAt", [address, quantity(slot), "latest"]]),
  ]) as [string, unknown[]][];
  const calls: [string, unknown[]][] = [
    ["getChainHead", []],
    ["txpool_content", []],
    ["eth_getBlockByNumber", ["latest", false]],
    ["eth_getBlockByNumber", ["finalized", false]],
    ["eth_call", [{ data: balanceSum(addresses) }, "latest"]],
    ["dev_getValidators", []],
    ["get_v1_beacon_states_root", ["head"]],
    ...pools.map((pool): [string, unknown[]] => [`get_v1_beacon_pool_${pool}`, []]),
    ...vaults,
    ...addresses.map((address): [string, unknown[]] => ["eth_getTransactionCount", [address, "latest"]]),
  ];
  const digest: Record<string, unknown> = {
    addresses,
    slot: (await chain.call<{ slot: string }>("getChainTime")).slot,
    pendingOverrides: overrides.pending(canonical.head?.recorded ?? new Set()).length,
  };
  const results = await Promise.all(calls.map(([method, params]) => chain.call(method, params)));
  for (const [index, call] of calls.entries()) digest[JSON.stringify(call)] = results[index];
  return digest;
}
