import { FUNDED, RECEIVERS, VAULT_SLOTS, VAULTS } from "../accounts.ts";
import {
  BEACON_ROOTS,
  CODES,
  CONSOLIDATION_REQUESTS,
  DEPOSIT_CONTRACT,
  HISTORY_STORAGE,
  WITHDRAWAL_REQUESTS,
  word,
} from "../contracts.ts";
import { type Hex, quantity } from "../json.ts";
import { type Action, clockSlot, type Scenario } from "../scenario.ts";
import type { Override } from "../state-overrides.ts";

const ETHER = 10n ** 18n;

/** Accounts whose balance or nonce is set, although they send transactions. */
const CHANGED = [FUNDED[7]!, FUNDED[8]!];

async function override(
  scenario: Scenario,
  method: string,
  params: readonly unknown[],
  change: Pick<Override, "kind" | "address" | "value">,
): Promise<string> {
  const slot = await clockSlot(scenario);
  await scenario.chain.call(method, params);
  scenario.overrides.add({ ...change, slot });
  return `${method} ${params.map(String).join(" ").slice(0, 100)}`;
}

async function setBalance(scenario: Scenario): Promise<string> {
  const { choices, ledger } = scenario;
  const address = choices.pick([...VAULTS, ...CHANGED, ...RECEIVERS.slice(1, 3)]);
  const balance = choices.pick([0n, 1n, ETHER / 1000n, 50n * ETHER, 10_000n * ETHER]);
  ledger.know(address);
  const params = [address, quantity(balance)];
  return override(scenario, "anvil_setBalance", params, { kind: "balance", address, value: balance });
}

async function setNonce(scenario: Scenario): Promise<string> {
  const { choices, chain } = scenario;
  const address = choices.pick([...VAULTS, ...CHANGED]);
  const nonce = BigInt(await chain.call<Hex>("eth_getTransactionCount", [address, "latest"]));
  const value = nonce + BigInt(choices.integer(0, 2));
  return override(scenario, "anvil_setNonce", [address, quantity(value)], { kind: "nonce", address, value });
}

async function setCode(scenario: Scenario): Promise<string> {
  const { choices } = scenario;
  const address = choices.pick(VAULTS);
  const value: Hex = `0x${choices.pick(Object.values(CODES))}`;
  return override(scenario, "anvil_setCode", [address, value], { kind: "code", address, value });
}

/** Sets a slot of an account that only overrides change. */
export async function setStorage(scenario: Scenario): Promise<string> {
  const { choices } = scenario;
  const address = choices.pick(VAULTS);
  const slot = quantity(choices.integer(0, VAULT_SLOTS - 1));
  const value: Hex = `0x${word(choices.integer(0, 1000))}`;
  const change = { kind: `storage ${slot}`, address, value } as const;
  return override(scenario, "anvil_setStorageAt", [address, slot, value], change);
}

/** Puts the code of a system contract back. */
export async function restoreSystemContract(scenario: Scenario): Promise<string> {
  const [[address, value] = []] = scenario.replaced;
  if (address === undefined || value === undefined) return "nothing to restore";
  scenario.replaced.delete(address);
  return override(scenario, "anvil_setCode", [address, value], { kind: "code", address, value });
}

/** Replaces the code of a system contract, which may keep slots empty until it is restored. */
async function replaceSystemContract(scenario: Scenario): Promise<string> {
  const { choices, chain, replaced } = scenario;
  const contracts = [WITHDRAWAL_REQUESTS, CONSOLIDATION_REQUESTS, DEPOSIT_CONTRACT, BEACON_ROOTS, HISTORY_STORAGE];
  const address = choices.pick(contracts);
  const original = await chain.call<Hex>("eth_getCode", [address, "latest"]);
  if (original === "0x") return `no code at ${address}`;
  // Reverts, stops, has no code, returns half a request, logs a malformed deposit.
  const code = choices.pick(["60006000fd", "00", "", "600a6000f3", `7f${"64".repeat(32)}60006000a100`]);
  if (!replaced.has(address)) replaced.set(address, original);
  scenario.expectedComplaints.push(/No block can be built: system contract/, /Dropped a transaction that no block can/);
  return override(scenario, "anvil_setCode", [address, `0x${code}`], { kind: "code", address, value: `0x${code}` });
}

/** Sets a field of the next header. */
async function setHeader({ choices, chain }: Scenario): Promise<string> {
  if (choices.chance(0.5)) {
    const fee = quantity(choices.pick([1n, 10n ** 9n, 5n * 10n ** 9n]));
    await chain.call("anvil_setNextBlockBaseFeePerGas", [fee]);
    return `base fee ${BigInt(fee)}`;
  }
  const limit = quantity(choices.pick([20_000_000, 30_000_000, 45_000_000]));
  await chain.call("evm_setBlockGasLimit", [limit]);
  return `gas limit ${Number(limit)}`;
}

export const OVERRIDE_ACTIONS: readonly Action[] = [
  { name: "set balance", weight: 4, run: setBalance },
  { name: "set nonce", weight: 2, run: setNonce },
  { name: "set code", weight: 3, run: setCode },
  { name: "set storage", weight: 3, run: setStorage },
  { name: "replace system contract", weight: 2, run: replaceSystemContract },
  { name: "set header", weight: 2, run: setHeader },
];
