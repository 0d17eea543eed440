import type { ValidatorIndex } from "@lodestar/types";
import type { MonitorSelection } from "../../../chain/monitor/monitored-validators.ts";
import { usageError } from "../../exit.ts";
import { FlagValueError } from "../flag-values.ts";

const RANGE = /^(\d{1,15})(?:-(\d{1,15}))?$/;
const PUBKEY = /^0x[0-9a-f]{96}$/i;

/** Range of indices, or a public key as a hex string. */
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

/** Returns each validator only once, or undefined if none is selected. */
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
