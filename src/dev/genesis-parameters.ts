import { createHash } from "node:crypto";
import { formatRanges, type ValidatorRange } from "./validator-ranges.ts";

// Must not import any consensus library: the command line loads this file before it selects the preset.

/** Source of the validator keys: interop keys from index `first` on, or a mnemonic. */
export type KeySource = { kind: "interop"; first: number } | { kind: "mnemonic"; mnemonic: string };

export const WITHDRAWAL_PREFIXES = ["0x00", "0x01", "0x02"] as const;

/** Withdrawal credentials of a validator. */
export interface WithdrawalTarget {
  /** 0x00: BLS key of the validator; 0x01: execution address; 0x02: execution address, compounding. */
  prefix: (typeof WITHDRAWAL_PREFIXES)[number];
  /** Hex string. If absent, the address is derived from the public key. */
  address?: string;
}

/** Builders that are registered at genesis. */
export interface GenesisBuilders {
  count: number;
  /** In Gwei. */
  balance: number;
}

/** Overridden constants of the chain configuration: string values by constant name. */
export type ConfigOverrides = Readonly<Record<string, string>>;

/** Optional genesis settings of a dev chain. */
export interface GenesisParameters {
  /** Interop keys from index 0 by default. */
  keys?: KeySource;
  /** 0x00 by default; `EVM_WITHDRAWALS` on a new chain with an EVM. */
  withdrawals?: readonly ValidatorRange<WithdrawalTarget>[];
  /** In Gwei; 32 ETH by default. */
  balances?: readonly ValidatorRange<number>[];
  configOverrides?: ConfigOverrides;
  /** None by default. Registered at genesis or, on a chain that starts before gloas, by deposits after the fork. */
  builders?: GenesisBuilders;
}

/**
 * Default for a chain with an EVM: the last funded account. The node can sign its withdrawal requests, and rewards do
 * not change the balances of the other accounts.
 */
export const EVM_WITHDRAWALS: NonNullable<GenesisParameters["withdrawals"]> = [
  { value: { prefix: "0x01", address: "0xa0ee7a142d267c1f36714e4a8f75612f20a79720" } },
];

const DEFAULT_KEYS: KeySource = { kind: "interop", first: 0 };

/** Describes a key source for mismatch errors. Only the fingerprint of a mnemonic is shown. */
export function keySourceText(source = DEFAULT_KEYS): string {
  if (source.kind === "interop") return `interop keys from ${source.first} on`;
  const fingerprint = createHash("sha256").update(source.mnemonic).digest("hex").slice(0, 8);
  return `a mnemonic (fingerprint ${fingerprint})`;
}

export const withdrawalsText = (withdrawals: GenesisParameters["withdrawals"]): string =>
  withdrawals === undefined
    ? "0x00"
    : formatRanges(withdrawals, ({ prefix, address }) => (address === undefined ? prefix : `${prefix}:${address}`));

export const balancesText = (balances: GenesisParameters["balances"]): string =>
  `${balances === undefined ? "32" : formatRanges(balances, (gwei) => String(gwei / 1e9))} ETH`;

export const buildersText = (builders: GenesisBuilders | undefined): string =>
  builders === undefined ? "none" : `${builders.count} with ${builders.balance / 1e9} ETH`;

export const overridesText = (overrides: ConfigOverrides = {}): string =>
  Object.entries(overrides)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join(" ") || "the default";
