import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Echo } from "./schema-checks.ts";

const DECIMAL = /^\d+$/;
const HEX = /^0x[0-9a-f]+$/i;

/** The value is the parameter. Compares only values of the same form, so that a slot is not compared with a root. */
const equal: Echo["agrees"] = (value, param) => !isSameForm(value, param) || normalize(value) === normalize(param);

function isSameForm(value: string, param: string): boolean {
  return DECIMAL.test(param) ? DECIMAL.test(value) : HEX.test(param) && value.length === param.length;
}

function normalize(value: string): string {
  return DECIMAL.test(value) ? value.replace(/^0+(?=\d)/, "") : value.toLowerCase();
}

/** Values of the last list, undefined if they are not all of one form. An answer repeats its list for each element. */
let lastList: { param: string; values: ReadonlySet<string>; form: RegExp | undefined } | undefined;

/** The value is in a comma-separated list. Ignores lists that mix indices and public keys. */
export function isListed(value: string, param: string): boolean {
  if (lastList?.param !== param) {
    const values = param.split(",");
    const form = [DECIMAL, HEX].find((each) => values.every((one) => each.test(one)));
    lastList = { param, values: new Set(values.map(normalize)), form };
  }
  const { values, form } = lastList;
  return !form?.test(value) || values.has(normalize(value));
}

/** The slot is in the epoch. */
const inEpoch: Echo["agrees"] = (slot, epoch) => !DECIMAL.test(epoch) || epochOf(slot) === Number(epoch);

/** A block at the parameter can include an attestation of the slot. */
const includable: Echo["agrees"] = (slot, block) => {
  return !DECIMAL.test(block) || (Number(slot) < Number(block) && epochOf(slot) >= epochOf(block) - 1);
};

/** The slot is in one of `count` sync committee periods from the parameter on. */
const inPeriods: Echo["agrees"] = (slot, start, { count = "" }) => {
  if (!DECIMAL.test(start) || !DECIMAL.test(count)) return true;
  const period = Math.floor(epochOf(slot) / EPOCHS_PER_SYNC_COMMITTEE_PERIOD);
  return period >= Number(start) && period < Number(start) + Number(count);
};

const epochOf = (slot: string) => Math.floor(Number(slot) / SLOTS_PER_EPOCH);

const echo = (path: string, param: string, agrees = equal): Echo => ({ path: path.split("."), param, agrees });

/** The slot whose fork the answer is of. */
const forkSlot = (path: string, param: string): Echo => ({ ...echo(path, param), isForkSlot: true });

/** Values of answers that a parameter of the call determines, by REST path. Their paths start at `data`. */
const ECHOES: readonly [path: RegExp, echoes: readonly Echo[]][] = [
  [/\/beacon\/(?:blinded_)?blocks\/\{block_id\}$/, [forkSlot("message.slot", "block_id")]],
  [/\/beacon\/headers\/\{block_id\}$/, [echo("header.message.slot", "block_id"), echo("root", "block_id")]],
  [/\/beacon\/headers$/, [echo("*.header.message.slot", "slot"), echo("*.header.message.parent_root", "parent_root")]],
  [/\/beacon\/blocks\/\{block_id\}\/root$/, [echo("root", "block_id")]],
  [/\/beacon\/blocks\/\{block_id\}\/attestations$/, [echo("*.data.slot", "block_id", includable)]],
  [/\/beacon\/states\/\{state_id\}\/root$/, [echo("root", "state_id")]],
  [/\/debug\/beacon\/states\/\{state_id\}$/, [forkSlot("slot", "state_id")]],
  [
    /\/beacon\/states\/\{state_id\}\/validators\/\{validator_id\}$/,
    [echo("index", "validator_id"), echo("validator.pubkey", "validator_id")],
  ],
  [
    /\/beacon\/states\/\{state_id\}\/validators$/,
    [echo("*.index", "id", isListed), echo("*.validator.pubkey", "id", isListed)],
  ],
  [/\/beacon\/states\/\{state_id\}\/validator_balances$/, [echo("*.index", "id", isListed)]],
  [
    /\/beacon\/states\/\{state_id\}\/committees$/,
    [echo("*.index", "index"), echo("*.slot", "slot"), echo("*.slot", "epoch", inEpoch)],
  ],
  [
    /_sidecars\/\{block_id\}$/,
    [forkSlot("*.signed_block_header.message.slot", "block_id"), echo("*.index", "indices", isListed)],
  ],
  [/\/beacon\/pool\/attestations$/, [echo("*.data.slot", "slot")]],
  [/\/beacon\/light_client\/updates$/, [echo("*.data.attested_header.beacon.slot", "start_period", inPeriods)]],
  [/\/validator\/duties\/(?:attester|proposer)\/\{epoch\}$/, [echo("*.slot", "epoch", inEpoch)]],
  [/\/validator\/(?:blinded_)?blocks\/\{slot\}$/, [forkSlot("slot", "slot"), forkSlot("block.slot", "slot")]],
  [/\/validator\/attestation_data$/, [echo("slot", "slot")]],
  [/\/validator\/aggregate_attestation$/, [echo("data.slot", "slot")]],
  [
    /\/validator\/sync_committee_contribution$/,
    [
      echo("slot", "slot"),
      echo("subcommittee_index", "subcommittee_index"),
      echo("beacon_block_root", "beacon_block_root"),
    ],
  ],
];

/** Returns the echoes of a REST path. */
export function echoesOf(path: string): readonly Echo[] {
  return ECHOES.find(([pattern]) => pattern.test(path))?.[1] ?? [];
}
