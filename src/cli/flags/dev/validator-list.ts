import type { ValidatorIndex } from "@lodestar/types";
import type { MonitorSelection } from "../../../chain/monitor/monitored-validators.ts";
import { usageError } from "../../exit.ts";
import { FlagValueError } from "../flag-values.ts";

/** Parsed validator list, before the number of validators is known. Ranges include both ends. */
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

/** Resolves the list to distinct indices in ascending order; undefined for all validators. */
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

const PUBKEY = /^0x[0-9a-f]{96}$/i;

/** Range of indices, or a public key as hex string. */
export type ValidatorChoice = { first: ValidatorIndex; last: ValidatorIndex } | { pubkey: string };

/** Parses an index, a range of indices or a public key. */
export function parseValidatorChoice(text: string): ValidatorChoice {
  if (PUBKEY.test(text)) return { pubkey: text.toLowerCase() };
  const match = RANGE.exec(text);
  const first = Number(match?.[1] ?? Number.NaN);
  const last = Number(match?.[2] ?? first);
  if (!(first <= last)) {
    throw new FlagValueError(
      "it must be an index, an ascending range such as 0-63, or a public key of 48 bytes in hex",
    );
  }
  return { first, last };
}

const MAX_MONITORED = 100_000;

/** Returns each validator once; undefined if none is chosen. */
export function monitorSelection(choices: readonly ValidatorChoice[]): MonitorSelection | undefined {
  if (choices.length === 0) return undefined;
  const indices = new Set<ValidatorIndex>();
  const pubkeys = new Set<string>();
  for (const choice of choices) {
    if ("pubkey" in choice) {
      pubkeys.add(choice.pubkey);
      continue;
    }
    const { first, last } = choice;
    if (last - first >= MAX_MONITORED) throw tooManyMonitored();
    for (let index = first; index <= last; index++) indices.add(index);
  }
  if (indices.size + pubkeys.size > MAX_MONITORED) throw tooManyMonitored();
  return { indices: [...indices].sort((a, b) => a - b), pubkeys: [...pubkeys] };
}

const tooManyMonitored = () =>
  usageError(`--monitor-validators has more than ${MAX_MONITORED} validators, the maximum.`);
