import { ImpossibleChainError } from "./impossible-chain.ts";

/** Something that validators begin with: those of the range, both ends included, or all that no range names. */
export interface ForValidators<T> {
  range?: { first: number; last: number };
  value: T;
}

/** What each of so many validators begins with; undefined for those that nothing was said of. */
export function forEachValidator<T>(
  given: readonly ForValidators<T>[],
  count: number,
  what: string,
): (T | undefined)[] {
  const found: (T | undefined)[] = new Array(count).fill(undefined);
  const named = new Set<number>();
  const others = given.filter(({ range }) => range === undefined);
  if (others.length > 1) {
    throw new ImpossibleChainError(
      `The ${what} of all validators are given twice: without indices they can be given once, for all that have none of their own.`,
    );
  }
  for (const { range, value } of given) {
    if (range === undefined) continue;
    if (range.last >= count) {
      throw new ImpossibleChainError(
        `The ${what} of validator ${range.last} are given, but the chain has ${count} validators: their indices are 0 to ${count - 1}.`,
      );
    }
    for (let index = range.first; index <= range.last; index++) {
      if (named.has(index)) {
        throw new ImpossibleChainError(
          `The ${what} of validator ${index} are given twice: ranges of indices must not overlap.`,
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

/** The same text for the same, in whatever order it was given. */
export function forValidatorsText<T>(given: readonly ForValidators<T>[], valueText: (value: T) => string): string {
  const position = ({ range }: ForValidators<T>) => range?.first ?? Number.POSITIVE_INFINITY;
  return [...given]
    .sort((a, b) => position(a) - position(b))
    .map(({ range, value }) => `${rangeText(range)}${valueText(value)}`)
    .join(",");
}

function rangeText(range: ForValidators<unknown>["range"]): string {
  if (range === undefined) return "";
  return range.first === range.last ? `${range.first}=` : `${range.first}-${range.last}=`;
}
