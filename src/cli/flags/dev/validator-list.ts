import type { ValidatorIndex } from "@lodestar/types";
import { usageError } from "../../exit.ts";
import { FlagValueError } from "../flag-values.ts";

/** Validator list parsed before the number of validators is known. Ranges include both ends. */
export type ValidatorList = "all" | readonly { first: ValidatorIndex; last: ValidatorIndex }[];

const RANGE = /^(\d{1,15})(?:-(\d{1,15}))?$/;

/** Parses `none`, `all`, or a comma-separated list of indices and ranges. */
export function parseValidatorList(text: string): ValidatorList {
  const trimmed = text.trim();
  if (trimmed === "all") return "all";
  if (trimmed === "none") return [];
  return trimmed.split(",").map((part) => {
    const match = RANGE.exec(part.trim());
    const first = Number(match?.[1] ?? Number.NaN);
    const last = Number(match?.[2] ?? first);
    if (!(first <= last)) {
      throw new FlagValueError("it must be none, all, or indices and ascending ranges of them, such as 0-15,20");
    }
    return { first, last };
  });
}

/** Resolves the list to distinct indices in ascending order, or to undefined for all validators. */
export function listedValidators(list: ValidatorList, count: number, flag: string): ValidatorIndex[] | undefined {
  if (list === "all") return undefined;
  const indices = new Set<ValidatorIndex>();
  for (const { first, last } of list) {
    if (last >= count) {
      throw usageError(
        `${flag} includes validator ${last}, but the chain has only ${count} validators. ` +
          `Use indices from 0 to ${count - 1}.`,
      );
    }
    for (let index = first; index <= last; index++) indices.add(index);
  }
  return [...indices].sort((a, b) => a - b);
}
