import type { Api } from "../../api/api.ts";

/** The part of the node's API used by a validator client, called in-process. */
export interface ValidatorApi {
  validator: Pick<
    Api["validator"],
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
    | "registerValidator"
  >;
  beacon: Pick<
    Api["beacon"],
    | "getBlockRoot"
    | "publishBlockV2"
    | "publishBlindedBlockV2"
    | "submitPoolAttestationsV2"
    | "submitPoolSyncCommitteeSignatures"
  >;
}
