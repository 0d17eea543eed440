import type { Hex } from "./json.ts";

const hexSize = (code: string) => (code.length / 2).toString(16).padStart(4, "0");

/** Init code that deploys code. */
export const deploymentOf = (code: string): Hex => `0x61${hexSize(code)}600e60003961${hexSize(code)}6000f3${code}`;

/** Runtime codes by what they do. Their argument is the first word of the input. */
export const CODES = {
  /** Logs the argument and counts its calls in slot 0. */
  counter: "60003560005260aa60206000a1600054600101600055" + "00",
  /** Stores the argument in slot 1. Zero refunds gas. */
  store: "60003560015500",
  /** Reverts with a word of data. */
  revert: "600160005260206000fd",
  /** Loops until it is out of gas. */
  loop: "5b600056",
  invalid: "fe",
  /** Destroys itself in favour of the argument. */
  destroy: "600035ff",
  /** Sends the value of the call to the argument. */
  forward: "600060006000600034600035" + "5af100",
  /** Stores the block's number, time, base fee, randomness and proposer's fee recipient. */
  environment: "43600055426001554860025544600355416004" + "5500",
} as const;

export const DEPOSIT_CONTRACT: Hex = `0x${"42".repeat(20)}`;
export const WITHDRAWAL_REQUESTS: Hex = "0x00000961ef480eb55e80d19ad83579a64c007002";
export const CONSOLIDATION_REQUESTS: Hex = "0x0000bbddc7ce488642fb579f8b00f3a590007251";
export const BEACON_ROOTS: Hex = "0x000f3df6d732807ef1319fb7b8bb8522d0beac02";
export const HISTORY_STORAGE: Hex = "0x0000f90827f1c53a10cb7a02335b175320002935";

/** Init code that returns the sum of the balances of accounts, modulo 2^256. */
export function balanceSum(addresses: Iterable<string>): Hex {
  const sum = [...addresses].map((address) => `73${address.slice(2)}3101`).join("");
  return `0x6000${sum}60005260206000f3`;
}

/** A word of 32 bytes. */
export const word = (value: bigint | number | string): string =>
  (typeof value === "string" ? value.slice(2) : value.toString(16)).padStart(64, "0");
