import { ForkName, isForkPostElectra } from "@lodestar/params";
import { invalidParams } from "../../errors/failure.ts";
import { optional } from "../definition.ts";
import { word } from "./scalars.ts";

export const VERSION_HEADER = "Eth-Consensus-Version";

/** REST must name the fork of what it brings. */
export const CONSENSUS_VERSION = optional(
  word(Object.values(ForkName)),
  "The fork of the object; by default that of its slot.",
  { header: { name: VERSION_HEADER, isRequired: true } },
);

/** Refuses an object of another fork than the caller says. */
export function requireVersion(given: ForkName | undefined, own: ForkName): void {
  if (given !== undefined && given !== own) throw otherVersion(given, own);
}

/** The same for attestations, which have had two forms so far: a caller may go by the clock instead of the attestation. */
export function requireAttestationVersion(given: ForkName | undefined, own: ForkName): void {
  if (given !== undefined && isForkPostElectra(given) !== isForkPostElectra(own)) throw otherVersion(given, own);
}

/** The same for slashings, where a later fork takes those of an earlier one too. */
export function requireSlashingVersion(given: ForkName | undefined, own: ForkName): void {
  if (given !== undefined && !isForkPostElectra(given) && isForkPostElectra(own)) throw otherVersion(given, own);
}

/** Handlers do not know which of the two it was. */
function otherVersion(given: ForkName, own: ForkName) {
  return invalidParams(
    `The fork given by consensus_version, or in REST by the header ${VERSION_HEADER}, is ${given}, but the object is one of ${own}.`,
  );
}
