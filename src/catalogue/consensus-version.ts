import type { ForkName } from "@lodestar/params";
import { isForkPostElectra } from "@lodestar/params";
import { invalidParams } from "../failure.ts";
import { optional } from "./entry.ts";
import { consensusVersion } from "./params/consensus-version.ts";

export const CONSENSUS_VERSION = optional(consensusVersion, "The fork of the object; by default that of its slot.");

/** Refuses an object of another fork than the caller says. */
export function requireVersion(given: ForkName | undefined, own: ForkName): void {
  if (given !== undefined && given !== own) throw otherVersion(given, own);
}

/** The same for votes, which have had two forms so far: a caller may go by the clock instead of the vote. */
export function requireVoteVersion(given: ForkName | undefined, own: ForkName): void {
  if (given !== undefined && isForkPostElectra(given) !== isForkPostElectra(own)) throw otherVersion(given, own);
}

/** The same for slashings, where a later fork takes those of an earlier one too. */
export function requireSlashingVersion(given: ForkName | undefined, own: ForkName): void {
  if (given !== undefined && !isForkPostElectra(given) && isForkPostElectra(own)) throw otherVersion(given, own);
}

function otherVersion(given: ForkName, own: ForkName) {
  return invalidParams(`The parameter "consensus_version" is ${given}, but the object is one of ${own}.`);
}
