import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD } from "@lodestar/params";
import type { CallParams } from "./json-scan.ts";
import {
  ATTESTATION_DATA,
  ATTESTATION_TIMES,
  ascendingIndices,
  CHECKPOINTS,
  COMMITTEE_OF_STATE,
  envelopeOf,
  FORK_OF_STATE,
  HEADER_ROOT,
  headerOf,
  PROPOSER_SLOT,
  PROPOSER_SLOTS,
  REQUESTED_DATA,
  REQUESTED_VALIDATOR,
} from "./relations.ts";
import type { Rule } from "./schema-checks.ts";
import { DECIMAL, epochOf, slotOf } from "./slots.ts";

/** Returns false if the value contradicts the parameter. */
type Agreement = (value: string, param: string, params: CallParams) => boolean;

const HEX = /^0x[0-9a-f]+$/i;

/**
 * The value equals the parameter. Compares only values of the same form, so that a slot is not compared with a root.
 * The slot of `genesis` is 0.
 */
const equal: Agreement = (value, param) => {
  if (param === "genesis") return !DECIMAL.test(value) || value === "0";
  return !isSameForm(value, param) || normalize(value) === normalize(param);
};

function isSameForm(value: string, param: string): boolean {
  return DECIMAL.test(param) ? DECIMAL.test(value) : HEX.test(param) && value.length === param.length;
}

function normalize(value: string): string {
  return DECIMAL.test(value) ? value.replace(/^0+(?=\d)/, "") : value.toLowerCase();
}

/** The last list parameter, parsed once for all elements of an answer. `form` is undefined if its values are mixed. */
let lastList: { param: string; values: ReadonlySet<string>; form: RegExp | undefined } | undefined;

/** The value is in a comma-separated list. Ignores lists that mix indices and public keys. */
export function isListed(value: string, param: string): boolean {
  if (lastList?.param !== param) {
    const values = param.split(",");
    const form = [DECIMAL, HEX].find((each) => values.every((item) => each.test(item)));
    lastList = { param, values: new Set(values.map(normalize)), form };
  }
  const { values, form } = lastList;
  return !form?.test(value) || values.has(normalize(value));
}

/** The slot is in the epoch. */
const inEpoch: Agreement = (slot, epoch) => !DECIMAL.test(epoch) || epochOf(slot) === Number(epoch);

/** A block at the parameter can include an attestation of the slot. */
const includable: Agreement = (slot, id) => {
  const block = slotOf(id);
  return block === undefined || (Number(slot) < block && epochOf(slot) >= epochOf(block) - 1);
};

/** The slot is in one of `count` sync committee periods from the parameter on. */
const inPeriods: Agreement = (slot, start, { count = "" }) => {
  if (!DECIMAL.test(start) || !DECIMAL.test(count)) return true;
  const period = Math.floor(epochOf(slot) / EPOCHS_PER_SYNC_COMMITTEE_PERIOD);
  return period >= Number(start) && period < Number(start) + Number(count);
};

/** Creates a rule for the value at a path. */
function at(path: string, find: Rule["find"]): Rule {
  return { path: path === "" ? [] : path.split("."), find };
}

/** Bounds the part of a list that a violation repeats. */
const MAX_SHOWN_PARAM = 100;

/** Requires that a value agrees with a parameter, if that is set. */
function echo(path: string, param: string, agrees: Agreement = equal): Rule {
  return at(path, (scan, start, end) => {
    const requested = scan.params[param];
    if (requested === undefined) return undefined;
    const value = scan.scalar(start, end);
    if (agrees(value, requested, scan.params)) return undefined;
    return `is ${value}, but ${param} ${requested.slice(0, MAX_SHOWN_PARAM)} was requested`;
  });
}

/** Like `echo`, for the slot that determines the fork of the answer. */
function forkSlot(path: string, param: string): Rule {
  const { find } = echo(path, param);
  return at(path, (scan, start, end) => {
    scan.slot = Number(scan.scalar(start, end));
    return find(scan, start, end);
  });
}

/** Rules of answers by REST path. The paths of their values start at `data`. */
const RULES: readonly [path: RegExp, rules: readonly Rule[]][] = [
  [/\/beacon\/(?:blinded_)?blocks\/\{block_id\}$/, [forkSlot("message.slot", "block_id")]],
  [
    /\/beacon\/headers\/\{block_id\}$/,
    [echo("header.message.slot", "block_id"), echo("root", "block_id"), at("", HEADER_ROOT)],
  ],
  [
    /\/beacon\/headers$/,
    [echo("*.header.message.slot", "slot"), echo("*.header.message.parent_root", "parent_root"), at("*", HEADER_ROOT)],
  ],
  [/\/beacon\/blocks\/\{block_id\}\/root$/, [echo("root", "block_id")]],
  [
    /\/beacon\/blocks\/\{block_id\}\/attestations$/,
    [echo("*.data.slot", "block_id", includable), at("*.data", ATTESTATION_TIMES)],
  ],
  [/\/beacon\/states\/\{state_id\}\/root$/, [echo("root", "state_id")]],
  [/\/beacon\/states\/\{state_id\}\/fork$/, [at("", FORK_OF_STATE)]],
  [/\/beacon\/states\/\{state_id\}\/finality_checkpoints$/, [at("", CHECKPOINTS)]],
  [/\/debug\/beacon\/states\/\{state_id\}$/, [forkSlot("slot", "state_id")]],
  [
    /\/beacon\/states\/\{state_id\}\/validators\/\{validator_id\}$/,
    [echo("index", "validator_id"), echo("validator.pubkey", "validator_id")],
  ],
  [
    /\/beacon\/states\/\{state_id\}\/validators$/,
    [
      echo("*.index", "id", isListed),
      echo("*.validator.pubkey", "id", isListed),
      at("*.index", ascendingIndices("id", "status")),
    ],
  ],
  [
    /\/beacon\/states\/\{state_id\}\/validator_balances$/,
    [echo("*.index", "id", isListed), at("*.index", ascendingIndices("id"))],
  ],
  [
    /\/beacon\/states\/\{state_id\}\/committees$/,
    [
      echo("*.index", "index"),
      echo("*.slot", "slot"),
      echo("*.slot", "epoch", inEpoch),
      at("*.slot", COMMITTEE_OF_STATE),
    ],
  ],
  [
    /_sidecars\/\{block_id\}$/,
    [
      forkSlot("*.signed_block_header.message.slot", "block_id"),
      echo("*.index", "indices", isListed),
      at("*.signed_block_header.message", headerOf("block_id")),
    ],
  ],
  [/\/beacon\/pool\/attestations$/, [echo("*.data.slot", "slot"), at("*.data", ATTESTATION_TIMES)]],
  [/\/execution_payload_envelopes\/\{block_id\}$/, [at("", envelopeOf("block_id"))]],
  [/\/execution_payload_envelopes\/\{slot\}\/\{beacon_block_root\}$/, [at("", envelopeOf("beacon_block_root"))]],
  [/\/beacon\/light_client\/bootstrap\/\{block_root\}$/, [at("header.beacon", headerOf("block_root"))]],
  [/\/beacon\/light_client\/updates$/, [echo("*.data.attested_header.beacon.slot", "start_period", inPeriods)]],
  [
    /\/validator\/duties\/attester\/\{epoch\}$/,
    [echo("*.slot", "epoch", inEpoch), at("*.validator_index", REQUESTED_VALIDATOR)],
  ],
  [
    /\/validator\/duties\/proposer\/\{epoch\}$/,
    [echo("*.slot", "epoch", inEpoch), at("*.slot", PROPOSER_SLOT), at("", PROPOSER_SLOTS)],
  ],
  [/\/validator\/duties\/sync\/\{epoch\}$/, [at("*.validator_index", REQUESTED_VALIDATOR)]],
  [/\/validator\/(?:blinded_)?blocks\/\{slot\}$/, [forkSlot("slot", "slot"), forkSlot("block.slot", "slot")]],
  [/\/validator\/attestation_data$/, [echo("slot", "slot"), at("", ATTESTATION_DATA)]],
  [
    /\/validator\/aggregate_attestation$/,
    [echo("data.slot", "slot"), at("data", ATTESTATION_TIMES), at("data", REQUESTED_DATA)],
  ],
  [
    /\/validator\/sync_committee_contribution$/,
    [
      echo("slot", "slot"),
      echo("subcommittee_index", "subcommittee_index"),
      echo("beacon_block_root", "beacon_block_root"),
    ],
  ],
];

/** Returns the rules of a REST path. */
export function rulesOf(path: string): readonly Rule[] {
  return RULES.find(([pattern]) => pattern.test(path))?.[1] ?? [];
}
