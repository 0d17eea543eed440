import { ForkName, SYNC_COMMITTEE_SUBNET_COUNT } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { invalidParams, notFound } from "../../../errors/failure.ts";
import { defineOperation, get, post, required } from "../../definition.ts";
import { root, slot, uint64 } from "../../params/scalars.ts";
import { payloadList, plainSszPayload } from "../../params/ssz-payload.ts";
import { requireForkAt, requireSynced, requireVerifiedBlock, requireVerifiedHead } from "../../preconditions.ts";
import { ACCEPTED, object, shape } from "../../schemas.ts";
import { submitAll } from "../../submissions.ts";

const signedContributions = payloadList(
  "signed contributions and proofs",
  plainSszPayload("a signed contribution and proof", ssz.altair.SignedContributionAndProof),
);

const syncCommitteeMessage = plainSszPayload("a sync committee message", ssz.altair.SyncCommitteeMessage);

const submitPoolSyncCommitteeMessages = defineOperation("beacon.submitPoolSyncCommitteeSignatures", {
  name: "post_v1_beacon_pool_sync_committees",
  summary: "Submits sync committee messages. Each is validated on its own.",
  params: {
    signatures: required(payloadList("sync committee messages", syncCommitteeMessage), "The signed messages.", {
      name: "messages",
    }),
  },
  result: ACCEPTED,
  failures: ["rejected"],
  rest: [post("/eth/v1/beacon/pool/sync_committees")],
  cost: "cheap",
  access: "submit",
  since: ForkName.altair,
  example: { stage: "attest", params: async (chain) => [await chain.syncCommitteeMessages()] },
  async handler({ chain, broadcast }, { signatures }) {
    await submitAll(
      signatures,
      (messages) => chain.processor.syncMessages(messages),
      (message, { subcommittees }) => {
        for (const { subcommitteeIndex } of subcommittees) broadcast.syncMessage(message, subcommitteeIndex);
      },
    );
  },
});

const produceSyncCommitteeContribution = defineOperation("validator.produceSyncCommitteeContribution", {
  name: "get_v1_validator_sync_committee_contribution",
  summary: "The best contribution of a sync subcommittee for a block.",
  params: {
    slot: required(slot, "Slot of the sync committee messages."),
    subcommitteeIndex: required(uint64, "Subcommittee index."),
    beaconBlockRoot: required(root, "Root of the signed block."),
  },
  result: {
    name: "contribution",
    schema: object({
      slot: shape("Uint64"),
      beacon_block_root: shape("Root"),
      subcommittee_index: shape("Uint64"),
      aggregation_bits: shape("Bits"),
      signature: shape("Signature"),
    }),
  },
  failures: ["not-found", "unavailable"],
  rest: [get("/eth/v1/validator/sync_committee_contribution")],
  cost: "cheap",
  access: "read",
  since: ForkName.altair,
  example: {
    stage: "aggregate",
    params: async (chain) => [String(chain.slot), String(await chain.syncSubcommitteeIndex()), chain.headRoot],
  },
  async handler({ chain }, { slot, subcommitteeIndex, beaconBlockRoot }) {
    requireSynced(chain);
    if (subcommitteeIndex >= SYNC_COMMITTEE_SUBNET_COUNT) {
      throw invalidParams(
        `The subcommittee index must be below ${SYNC_COMMITTEE_SUBNET_COUNT}, but ${subcommitteeIndex} was given.`,
      );
    }
    requireForkAt(chain.config, ForkName.altair, slot, "Sync committees");
    const data = chain.pools.syncCommittee.getContribution(subcommitteeIndex, slot, beaconBlockRoot);
    if (!data) {
      throw notFound(
        `No message of slot ${slot} and sync subcommittee ${subcommitteeIndex} for block ${beaconBlockRoot}.`,
      );
    }
    await requireVerifiedHead(chain);
    requireVerifiedBlock(chain, beaconBlockRoot);
    return { data };
  },
});

const publishContributionAndProofs = defineOperation("validator.publishContributionAndProofs", {
  name: "post_v1_validator_contribution_and_proofs",
  summary: "Submits sync committee contributions, each signed by its aggregator.",
  params: {
    contributionAndProofs: required(signedContributions, "The signed contributions.", { name: "signed_contributions" }),
  },
  result: ACCEPTED,
  failures: ["rejected"],
  rest: [post("/eth/v1/validator/contribution_and_proofs")],
  cost: "cheap",
  access: "submit",
  since: ForkName.altair,
  example: { stage: "aggregate", params: async (chain) => [[await chain.signedContribution()]] },
  async handler({ chain, broadcast }, { contributionAndProofs }) {
    await submitAll(
      contributionAndProofs,
      (contributions) => chain.processor.contributions(contributions),
      (contribution) => broadcast.contribution(contribution),
    );
  },
});

export const syncCommitteeMethods = [
  submitPoolSyncCommitteeMessages,
  produceSyncCommitteeContribution,
  publishContributionAndProofs,
] as const;
