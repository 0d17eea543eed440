import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";

/** The part of the public API that a validator client needs, as handlers in the same process. */
export interface ValidatorApi {
  validator: Pick<
    ApplicationMethods<routes.validator.Endpoints>,
    | "getProposerDuties"
    | "getAttesterDuties"
    | "getSyncCommitteeDuties"
    | "produceBlockV3"
    | "produceAttestationData"
    | "getAggregatedAttestationV2"
    | "publishAggregateAndProofsV2"
    | "produceSyncCommitteeContribution"
    | "publishContributionAndProofs"
    | "prepareBeaconCommitteeSubnet"
    | "prepareSyncCommitteeSubnets"
  >;
  beacon: Pick<
    ApplicationMethods<routes.beacon.Endpoints>,
    "getBlockRoot" | "publishBlockV2" | "submitPoolAttestationsV2" | "submitPoolSyncCommitteeSignatures"
  >;
}

/** A handler may answer in SSZ bytes, but only to callers that asked for bytes, which a validator never does. */
export function objectOf<T extends object>(data: T | Uint8Array): Exclude<T, Uint8Array> {
  if (data instanceof Uint8Array) throw new TypeError("The answer came as SSZ bytes where an object was asked for.");
  return data as Exclude<T, Uint8Array>;
}
