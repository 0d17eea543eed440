import { ForkName, isForkPostElectra } from "@lodestar/params";
import { invalidParams } from "../../errors/failure.ts";
import { optional } from "../definition.ts";
import { stringEnum } from "./scalars.ts";

export const VERSION_HEADER = "Eth-Consensus-Version";

/** Fork of a submitted object. REST requires it as a header. */
export const CONSENSUS_VERSION = optional(
  stringEnum(Object.values(ForkName)),
  "Fork of the object. Default: the fork of its slot.",
  { header: { name: VERSION_HEADER, isRequired: true } },
);

/** Throws unless the object is of the given fork. */
export function requireVersion(given: ForkName | undefined, own: ForkName): void {
  if (given !== undefined && given !== own) throw versionMismatch(given, own);
}

/**
 * Throws unless an attestation has the format of the given fork. There are only two formats, and callers may send the
 * fork of the current slot instead of the attestation's.
 */
export function requireAttestationVersion(given: ForkName | undefined, own: ForkName): void {
  if (given !== undefined && isForkPostElectra(given) !== isForkPostElectra(own)) throw versionMismatch(given, own);
}

/** Throws if a slashing requires the format of a fork after the given one. Later forks accept earlier slashings. */
export function requireSlashingVersion(given: ForkName | undefined, own: ForkName): void {
  if (given !== undefined && !isForkPostElectra(given) && isForkPostElectra(own)) throw versionMismatch(given, own);
}

/** Names both parameter and header, since handlers do not know the protocol of the call. */
function versionMismatch(given: ForkName, own: ForkName) {
  return invalidParams(
    `The consensus version is ${given}, but the object is of ${own}. Correct consensus_version, or the ${VERSION_HEADER} header in REST.`,
  );
}
