import type { Echo } from "./schema-checks.ts";

const echo = (path: string, param: string): Echo => ({ path: path.split("."), param });

/** Values of answers that repeat a parameter of the call, by REST path. Their paths start at `data`. */
const ECHOES: readonly [path: RegExp, echoes: readonly Echo[]][] = [
  [/\/beacon\/(?:blinded_)?blocks\/\{block_id\}$/, [echo("message.slot", "block_id")]],
  [/\/beacon\/headers\/\{block_id\}$/, [echo("header.message.slot", "block_id"), echo("root", "block_id")]],
  [/\/beacon\/headers$/, [echo("*.header.message.slot", "slot"), echo("*.header.message.parent_root", "parent_root")]],
  [/\/beacon\/blocks\/\{block_id\}\/root$/, [echo("root", "block_id")]],
  [/\/beacon\/states\/\{state_id\}\/root$/, [echo("root", "state_id")]],
  [
    /\/beacon\/states\/\{state_id\}\/validators\/\{validator_id\}$/,
    [echo("index", "validator_id"), echo("validator.pubkey", "validator_id")],
  ],
  [/_sidecars\/\{block_id\}$/, [echo("*.signed_block_header.message.slot", "block_id")]],
  [/\/validator\/(?:blinded_)?blocks\/\{slot\}$/, [echo("slot", "slot"), echo("block.slot", "slot")]],
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
