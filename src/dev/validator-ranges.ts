import { InvalidChainError } from "./invalid-chain-error.ts";

/**
 * Genesis value for a range of validators, both ends included. If there is no range, the value applies to all other
 * validators.
 */
export interface ValidatorRange<T> {
  range?: { first: number; last: number };
  value: T;
}

/**
 * Expands ranges to one value per validator, which is undefined for validators without a value. `what` names the value
 * in errors.
 */
export function expandRanges<T>(ranges: readonly ValidatorRange<T>[], count: number, what: string): (T | undefined)[] {
  const found: (T | undefined)[] = new Array(count).fill(undefined);
  const named = new Set<number>();
  const others = ranges.filter(({ range }) => range === undefined);
  if (others.length > 1) {
    throw new InvalidChainError(
      `The ${what} of all validators are given twice. Without indices they can be given once, as the default.`,
    );
  }
  for (const { range, value } of ranges) {
    if (range === undefined) continue;
    if (range.last >= count) {
      throw new InvalidChainError(
        `The ${what} of validator ${range.last} are given, but the chain has only ${count} validators. ` +
          `Use indices from 0 to ${count - 1}.`,
      );
    }
    for (let index = range.first; index <= range.last; index++) {
      if (named.has(index)) {
        throw new InvalidChainError(
          `The ${what} of validator ${index} are given twice. Ranges of indices must not overlap.`,
        );
      }
      named.add(index);
      found[index] = value;
    }
  }
  for (const { value } of others) {
    for (let index = 0; index < count; index++) if (!named.has(index)) found[index] = value;
  }
  return found;
}

/** Returns the value for one validator, or undefined if there is none. */
export function valueAt<T>(ranges: readonly ValidatorRange<T>[], index: number): T | undefined {
  const named = ranges.find(({ range }) => range !== undefined && range.first <= index && index <= range.last);
  return (named ?? ranges.find(({ range }) => range === undefined))?.value;
}

/** Formats ranges in ascending order, so equal settings produce equal strings. */
export function formatRanges<T>(ranges: readonly ValidatorRange<T>[], valueText: (value: T) => string): string {
  const position = ({ range }: ValidatorRange<T>) => range?.first ?? Number.POSITIVE_INFINITY;
  return [...ranges]
    .sort((a, b) => position(a) - position(b))
    .map(({ range, value }) => `${rangeText(range)}${valueText(value)}`)
    .join(",");
}

function rangeText(range: ValidatorRange<unknown>["range"]): string {
  if (range === undefined) return "";
  return range.first === range.last ? `${range.first}=` : `${range.first}-${range.last}=`;
}
