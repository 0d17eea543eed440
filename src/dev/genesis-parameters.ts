import { createHash } from "node:crypto";
import { type ForValidators, forValidatorsText } from "./for-validators.ts";

// Free of the consensus libraries, because the command line reads it before their preset is chosen.

/** Where the keys of a dev chain's validators come from: of the well-known test keys, those from a first one on, or a mnemonic. */
export type KeySource = { kind: "interop"; first: number } | { kind: "mnemonic"; mnemonic: string };

export const WITHDRAWAL_PREFIXES = ["0x00", "0x01", "0x02"] as const;

/** Where withdrawals go to. */
export interface WithdrawalTarget {
  /** 0x00: to whoever has the validator's own key; 0x01: to an address; 0x02: the same, and rewards are added to the stake. */
  prefix: (typeof WITHDRAWAL_PREFIXES)[number];
  /** In hexadecimal digits; left out for one that is derived from the validator's public key. */
  address?: string;
}

/** Values of the chain configuration that are not those of every dev chain, as texts by their names. */
export type ConfigOverrides = Readonly<Record<string, string>>;

/** What a dev chain can begin with beside the number of its validators and its forks. */
export interface GenesisParameters {
  /** The well-known test keys from 0 on when left out. */
  keys?: KeySource;
  /** 0x00 when left out. */
  withdrawals?: readonly ForValidators<WithdrawalTarget>[];
  /** In Gwei; 32 ETH when left out. */
  balances?: readonly ForValidators<number>[];
  configOverrides?: ConfigOverrides;
}

const DEFAULT_KEYS: KeySource = { kind: "interop", first: 0 };

/** Tells the keys of one chain from those of another without giving a mnemonic away. */
export function keySourceText(source = DEFAULT_KEYS): string {
  if (source.kind === "interop") return `the test keys from ${source.first} on`;
  const fingerprint = createHash("sha256").update(source.mnemonic).digest("hex").slice(0, 8);
  return `those of a mnemonic (fingerprint ${fingerprint})`;
}

export const withdrawalsText = (given: GenesisParameters["withdrawals"]): string =>
  given === undefined
    ? "0x00"
    : forValidatorsText(given, ({ prefix, address }) => (address === undefined ? prefix : `${prefix}:${address}`));

export const balancesText = (given: GenesisParameters["balances"]): string =>
  `${given === undefined ? "32" : forValidatorsText(given, (gwei) => String(gwei / 1e9))} ETH`;

export const overridesText = (overrides: ConfigOverrides = {}): string =>
  Object.entries(overrides)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join(" ") || "that of every dev chain";
