import { Address } from "@ethereumjs/util";
import type { Keccak } from "../state/trie.ts";
import type { World } from "../state/world.ts";
import { WorldState } from "../state/world-state.ts";

/** Replaces one part of an account. */
export interface AccountChange {
  readonly address: Uint8Array;
  readonly balance?: bigint;
  readonly nonce?: bigint;
  readonly code?: Uint8Array;
  /** A slot and its value, 32 bytes each. */
  readonly storage?: readonly [slot: Uint8Array, value: Uint8Array];
}

/** Replaces header fields that are otherwise derived from the parent. */
export interface HeaderChange {
  readonly baseFeePerGas?: bigint;
  readonly gasLimit?: bigint;
}

export type Change = AccountChange | HeaderChange;

/** A change that is not part of any payload. Recorded with the first block that applies it. */
export type Override = Change & { readonly id: number };

/** A state to which account changes have been applied, with the state before. */
export interface OverriddenState {
  world: World;
  overridden?: { world: World; changes: readonly AccountChange[] };
}

/** Applies account changes to a block's state. */
export function overrideState<State extends OverriddenState>(
  state: State,
  overrides: readonly Change[],
  keccak: Keccak,
): State {
  if (overrides.length === 0) return state;
  const changed = new WorldState(keccak);
  changed.open(state.world);
  const changes = overrides.filter((override) => "address" in override);
  for (const change of changes) overrideAccount(changed, change);
  const { world, changes: earlier } = state.overridden ?? { world: state.world, changes: [] };
  return { ...state, world: changed.seal(), overridden: { world, changes: [...earlier, ...changes] } };
}

/** Returns the overridden header fields. The last override of a field wins. */
export function headerChange(overrides: readonly Change[]): HeaderChange {
  const change: { -readonly [Field in keyof HeaderChange]: HeaderChange[Field] } = {};
  for (const override of overrides) {
    if ("address" in override) continue;
    const { baseFeePerGas, gasLimit } = override;
    if (baseFeePerGas !== undefined) change.baseFeePerGas = baseFeePerGas;
    if (gasLimit !== undefined) change.gasLimit = gasLimit;
  }
  return change;
}

function overrideAccount(state: WorldState, { address, balance, nonce, code, storage }: AccountChange): void {
  if (storage !== undefined) {
    if (state.account(address) === undefined) state.setAccount(address, {});
    state.setStorage(new Address(address), ...storage);
  } else {
    const fields = { balance, nonce, code };
    state.updateAccount(address, Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)));
  }
}

/** An override encoded as JSON. */
export type EncodedOverride = Readonly<Record<string, string | number | readonly string[]>>;

/** Encodes overrides for storage. */
export function encodeOverrides(overrides: readonly Override[]): EncodedOverride[] {
  return overrides.map((override) =>
    Object.fromEntries(Object.entries(override).map(([name, value]) => [name, encodeValue(value)])),
  );
}

/** Inverse of `encodeOverrides`. */
export function decodeOverrides(stored: readonly EncodedOverride[]): Override[] {
  return stored.map(
    (fields) =>
      Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [name, decodeValue(name, value)]),
      ) as unknown as Override,
  );
}

const BIGINT_FIELDS: readonly string[] = ["balance", "nonce", "baseFeePerGas", "gasLimit"];

function encodeValue(value: unknown): string | number | string[] {
  if (typeof value === "bigint") return `0x${value.toString(16)}`;
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString("hex")}`;
  return Array.isArray(value) ? value.map((each) => encodeValue(each) as string) : (value as number);
}

function decodeValue(name: string, value: EncodedOverride[string]): unknown {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return value.map(fromHex);
  return BIGINT_FIELDS.includes(name) ? BigInt(value) : fromHex(value);
}

const fromHex = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex.slice(2), "hex"));
