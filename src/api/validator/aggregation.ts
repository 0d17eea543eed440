import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import type { altair, SignedAggregateAndProof } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconChain } from "../../chain/chain.ts";
import { notFound } from "../../errors.ts";
import { requireSynced, requireVerifiedHead } from "../gate.ts";
import { requireTaken } from "../submissions.ts";

export type AggregationApi = Pick<
  ApplicationMethods<routes.validator.Endpoints>,
  | "getAggregatedAttestationV2"
  | "publishAggregateAndProofsV2"
  | "produceSyncCommitteeContribution"
  | "publishContributionAndProofs"
>;

export function createAggregationApi(chain: BeaconChain): AggregationApi {
  const { attestations, syncCommittee } = chain.pools;
  return {
    async getAggregatedAttestationV2({ attestationDataRoot, slot, committeeIndex }) {
      requireSynced(chain);
      requireVerifiedHead(chain);
      const dataRoot = toRootHex(attestationDataRoot);
      const data = attestations.getAggregate(slot, dataRoot, committeeIndex);
      if (!data) {
        throw notFound(
          `No attestation of slot ${slot} and committee ${committeeIndex} with data ${dataRoot} is known.`,
        );
      }
      return { data, meta: { version: chain.config.getForkName(slot) } };
    },

    async publishAggregateAndProofsV2({ signedAggregateAndProofs }) {
      requireTaken(await chain.intake.aggregates(signedAggregateAndProofs as SignedAggregateAndProof[]));
    },

    async produceSyncCommitteeContribution({ slot, subcommitteeIndex, beaconBlockRoot }) {
      requireSynced(chain);
      const root = toRootHex(beaconBlockRoot);
      const data = syncCommittee.getContribution(subcommitteeIndex, slot, root);
      if (!data) {
        throw notFound(
          `No message of slot ${slot} and sync subcommittee ${subcommitteeIndex} for block ${root} is known.`,
        );
      }
      return { data };
    },

    async publishContributionAndProofs({ contributionAndProofs }) {
      requireTaken(await chain.intake.contributions(contributionAndProofs as altair.SignedContributionAndProof[]));
    },
  };
}
