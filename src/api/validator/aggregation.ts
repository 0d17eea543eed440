import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { ForkSeq, SYNC_COMMITTEE_SUBNET_COUNT } from "@lodestar/params";
import type { Attestation, altair, CommitteeIndex, RootHex, SignedAggregateAndProof, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconChain } from "../../chain/chain.ts";
import { invalidParams, notFound, unavailable, unsupported } from "../../errors.ts";
import type { Broadcast } from "../../network/broadcast.ts";
import { requireSynced } from "../gate.ts";
import { submitAll } from "../submissions.ts";
import { shown } from "./shown-number.ts";
import { requireSyncCommittees } from "./sync-committee-state.ts";

export type AggregationApi = Pick<
  ApplicationMethods<routes.validator.Endpoints>,
  | "getAggregatedAttestationV2"
  | "publishAggregateAndProofsV2"
  | "produceSyncCommitteeContribution"
  | "publishContributionAndProofs"
> & {
  /** Of the data's own committee: the first version knows no forks in which data does not name one. */
  getAggregatedAttestation(args: { slot: Slot; attestationDataRoot: RootHex }): Promise<{ data: Attestation }>;
};

export function createAggregationApi(chain: BeaconChain, broadcast: Broadcast): AggregationApi {
  const { attestations, syncCommittee } = chain.pools;

  const bestAggregate = (slot: Slot, dataRoot: RootHex, committeeIndex?: CommitteeIndex): Attestation => {
    const aggregate = attestations.getAggregate(slot, dataRoot, committeeIndex);
    if (!aggregate) {
      const ofCommittee = committeeIndex === undefined ? "" : ` and committee ${shown(committeeIndex)}`;
      throw notFound(`No attestation of slot ${shown(slot)}${ofCommittee} with data ${dataRoot} is known.`);
    }
    requireVerifiedBlock(chain, toRootHex(aggregate.data.beaconBlockRoot));
    return aggregate;
  };

  return {
    async getAggregatedAttestation({ slot, attestationDataRoot }) {
      requireSynced(chain);
      if (chain.config.getForkSeq(slot) >= ForkSeq.electra) {
        throw unsupported(
          "Since electra the data of an attestation does not name its committee, so no aggregate can be found by it: use get_v2_validator_aggregate_attestation.",
        );
      }
      return { data: bestAggregate(slot, attestationDataRoot) };
    },

    async getAggregatedAttestationV2({ attestationDataRoot, slot, committeeIndex }) {
      requireSynced(chain);
      const data = bestAggregate(slot, toRootHex(attestationDataRoot), committeeIndex);
      return { data, meta: { version: chain.config.getForkName(slot) } };
    },

    async publishAggregateAndProofsV2({ signedAggregateAndProofs }) {
      await submitAll(
        signedAggregateAndProofs as SignedAggregateAndProof[],
        (aggregates) => chain.processor.aggregates(aggregates),
        (aggregate) => broadcast.aggregate(aggregate),
      );
    },

    async produceSyncCommitteeContribution({ slot, subcommitteeIndex, beaconBlockRoot }) {
      requireSynced(chain);
      requireSyncCommittees(chain);
      if (subcommitteeIndex >= SYNC_COMMITTEE_SUBNET_COUNT) {
        throw invalidParams(
          `There are ${SYNC_COMMITTEE_SUBNET_COUNT} sync subcommittees, so the index ${shown(subcommitteeIndex)} is too high.`,
        );
      }
      const root = toRootHex(beaconBlockRoot);
      const data = syncCommittee.getContribution(subcommitteeIndex, slot, root);
      if (!data) {
        throw notFound(
          `No message of slot ${shown(slot)} and sync subcommittee ${subcommitteeIndex} for block ${root} is known.`,
        );
      }
      requireVerifiedBlock(chain, root);
      return { data };
    },

    async publishContributionAndProofs({ contributionAndProofs }) {
      requireSyncCommittees(chain);
      await submitAll(
        contributionAndProofs as altair.SignedContributionAndProof[],
        (contributions) => chain.processor.contributions(contributions),
        (contribution) => broadcast.contribution(contribution),
      );
    },
  };
}

/** The standard wants no help with votes for a block whose payload nobody has checked (sync/optimistic.md). */
function requireVerifiedBlock({ forkChoice }: BeaconChain, root: RootHex): void {
  if (forkChoice.get(root)?.execution.status === "optimistic") {
    throw unavailable(`Block ${root} is verified only optimistically: its execution payload is not validated yet.`);
  }
}
