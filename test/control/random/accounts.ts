import { fundedAccounts } from "../../../src/evm/accounts.ts";
import type { Hex } from "./json.ts";

/** Accounts that only receive. */
export const RECEIVERS: readonly Hex[] = Array.from(
  { length: 6 },
  (_, number): Hex => `0x${(0x5000 + number).toString(16).padStart(40, "0")}`,
);

/** Accounts that only overrides change. */
export const VAULTS: readonly Hex[] = ["c0", "c1", "c2"].map((byte): Hex => `0x${byte.repeat(20)}`);
export const VAULT_SLOTS = 3;

export const FUNDED: readonly Hex[] = fundedAccounts().map(({ address }) => address.toLowerCase() as Hex);
