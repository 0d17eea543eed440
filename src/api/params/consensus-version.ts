import { ForkName, isForkPostElectra } from "@lodestar/params";
import { invalidParams } from "../../errors/failure.ts";
import { optional } from "../definition.ts";
import { stringEnum } from "./scalars.ts";

export const VERSION_HEADER = "Eth-Consensus-Version";

/** The fork of a submitted object. REST requires it as a header. */
export const CONSENSUS_VERSION = optional(
  stringEnum(Object.values(ForkName)),
  "Fork of the object. Default: the fork of its slot.",
  { header: { name: VERSION_HEADER, isRequired: true } },
);

/** Throws unless the object belongs to the version that the caller sent. */
export function requireVersion(version: ForkName | undefined, fork: ForkName): void {
  if (version !== undefined && version !== fork) throw versionMismatch(version, fork);
}

/**
 * Throws unless an attestation is in the format of the version. There are only two formats, and callers may send the
 * fork of the current slot instead of the attestation's fork.
 */
export function requireAttestationVersion(version: ForkName | undefined, fork: ForkName): void {
  if (version !== undefined && isForkPostElectra(version) !== isForkPostElectra(fork))
    throw versionMismatch(version, fork);
}

/** Throws if a slashing needs a later format than the version's. Later forks accept earlier slashings. */
export function requireSlashingVersion(version: ForkName | undefined, fork: ForkName): void {
  if (version !== undefined && !isForkPostElectra(version) && isForkPostElectra(fork))
    throw versionMismatch(version, fork);
}

/** The message names both the parameter and the header, since handlers do not know the protocol of the call. */
function versionMismatch(version: ForkName, fork: ForkName) {
  return invalidParams(
    `The consensus version is ${version}, but the object is of ${fork}. Correct consensus_version, or the ${VERSION_HEADER} header in REST.`,
  );
}
