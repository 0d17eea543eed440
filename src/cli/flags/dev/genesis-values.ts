import { type GenesisBuilders, WITHDRAWAL_PREFIXES, type WithdrawalTarget } from "../../../dev/genesis-parameters.ts";
import type { ValidatorRange } from "../../../dev/validator-ranges.ts";
import { contractAddress, FlagValueError } from "../flag-values.ts";

const RANGE = /^(\d{1,9})(?:-(\d{1,9}))?$/;

/** Parses a number or a range. Returns undefined if the text is invalid. */
function parseRange(text: string): { first: number; last: number | undefined } | undefined {
  const match = RANGE.exec(text.trim());
  if (match === null) return undefined;
  const first = Number(match[1]);
  const last = match[2] === undefined ? undefined : Number(match[2]);
  return last !== undefined && last < first ? undefined : { first, last };
}

/** Parses `FIRST` or `FIRST-LAST`, such as `100-163`. `last` is undefined for a single number. */
export function indexRange(text: string): { first: number; last: number | undefined } {
  const range = parseRange(text);
  if (range === undefined) throw new FlagValueError("it must be a number or an ascending range, such as 100-163");
  return range;
}

/**
 * Returns a parser for `INDEX=VALUE`, `FIRST-LAST=VALUE`, or a bare `VALUE` that applies to all validators by default.
 */
export function validatorRange<T>(parse: (text: string) => T): (text: string) => ValidatorRange<T> {
  return (text) => {
    const separator = text.indexOf("=");
    if (separator === -1) return { value: parse(text) };
    const range = parseRange(text.slice(0, separator));
    if (range === undefined) {
      throw new FlagValueError("before the = there must be an index or an ascending range, such as 16 or 0-15");
    }
    const { first, last = first } = range;
    return { range: { first, last }, value: parse(text.slice(separator + 1).trim()) };
  };
}

/** Parses a withdrawal credentials prefix, optionally with an address: `0x00`, `0x01` or `0x02:0x…`. */
export function withdrawalTarget(text: string): WithdrawalTarget {
  const [prefixText, address, ...rest] = text.split(":");
  const prefix = WITHDRAWAL_PREFIXES.find((candidate) => candidate === prefixText?.trim());
  if (prefix === undefined || rest.length > 0) {
    throw new FlagValueError(
      "it must be 0x00, 0x01 or 0x02, the latter two optionally with an address, such as 0x01:0x…",
    );
  }
  if (address === undefined) return { prefix };
  if (prefix === "0x00")
    throw new FlagValueError("0x00 takes no address: withdrawals are controlled by the validator's BLS key");
  return { prefix, address: contractAddress(address.trim()) };
}

/** Parses an amount in ether, such as `31.5`. Returns Gwei. */
export function ether(text: string): number {
  const match = /^(\d{1,7})(?:\.(\d{1,9}))?$/.exec(text);
  if (match === null) throw new FlagValueError("it must be an amount of ether, such as 32 or 31.5, in whole Gwei");
  return Number(match[1]) * 1e9 + Number((match[2] ?? "").padEnd(9, "0"));
}

const DEFAULT_BUILDER_BALANCE = 100e9;

/** Parses `COUNT` or `COUNT:ETHER`. */
export function builderCount(text: string): GenesisBuilders {
  const [, count, balance] = /^(\d{1,4})(?::(.+))?$/.exec(text.trim()) ?? [];
  if (count === undefined || Number(count) === 0) {
    throw new FlagValueError("it must be a number from 1 to 9999, and optionally a balance in ether, such as 2:500");
  }
  return { count: Number(count), balance: balance === undefined ? DEFAULT_BUILDER_BALANCE : ether(balance) };
}

/** Parses `KEY=VALUE` for the chain config. Keys and values are validated once the preset is set. */
export function configValue(text: string): { name: string; value: string } {
  const match = /^([A-Za-z][A-Za-z0-9_]*)\s*=\s*(\S.*)$/.exec(text);
  if (match === null) {
    throw new FlagValueError("it must be a constant and its value, such as SHARD_COMMITTEE_PERIOD=2");
  }
  return { name: match[1]!, value: match[2]! };
}
