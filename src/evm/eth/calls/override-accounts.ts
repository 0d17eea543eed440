import { Address } from "@ethereumjs/util";
import type { Machine } from "../../execution/rules.ts";
import { EthError } from "../eth-error.ts";
import type { StateOverrides } from "./call-request.ts";

/** Applies state overrides to accounts. */
export async function overrideAccounts(machine: Machine, overrides: StateOverrides): Promise<void> {
  if (overrides.length === 0) return;
  overridePrecompiles(machine, overrides);
  const { state } = machine;
  for (const [bytes, { nonce, balance, code, state: slots, stateDiff }] of overrides) {
    const address = new Address(bytes);
    if (slots !== undefined && stateDiff !== undefined) {
      throw new EthError(`account ${address} has both 'state' and 'stateDiff'`);
    }
    await state.modifyAccountFields(address, { nonce, balance });
    if (code !== undefined) await state.putCode(address, code);
    if (slots !== undefined) await state.clearStorage(address);
    for (const [slot, value] of slots ?? stateDiff ?? []) state.setStorage(address, slot, value);
  }
}

/** Moves precompiles. As in geth, overriding the account of a precompile disables the precompile. */
function overridePrecompiles({ precompiles }: Machine, overrides: StateOverrides): void {
  const active = new Map(precompiles);
  const overridden = new Set(overrides.map(([address]) => keyOf(address)));
  for (const [address, { movePrecompileToAddress: target }] of overrides) {
    const precompile = active.get(keyOf(address));
    if (precompile !== undefined) precompiles.delete(keyOf(address));
    if (target === undefined) continue;
    if (precompile === undefined) throw new EthError(`account ${new Address(address)} is not a precompile`);
    if (overridden.has(keyOf(target))) throw new EthError(`account ${new Address(target)} is already overridden`);
    precompiles.set(keyOf(target), precompile);
  }
}

const keyOf = (address: Uint8Array): string => Buffer.from(address).toString("hex");
