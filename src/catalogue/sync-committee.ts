import { ssz } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { defineEntry, get, post, required } from "./entry.ts";
import { root } from "./params/bytes.ts";
import { epoch, slot, uint64 } from "./params/integers.ts";
import { payloadList } from "./params/payload-list.ts";
import { plainSszPayload } from "./params/ssz-payload.ts";
import { validatorIds } from "./params/validator-ids.ts";

const messages = payloadList(
  "sync committee messages",
  plainSszPayload("a sync committee message", ssz.altair.SyncCommitteeMessage),
);

const signedContributions = payloadList(
  "signed contributions with their proofs",
  plainSszPayload("a signed contribution and proof", ssz.altair.SignedContributionAndProof),
);

/** What a validator client needs besides from altair on. */
export const syncCommitteeEntries = [
  defineEntry({
    number: null,
    name: "post_v1_validator_duties_sync_epoch",
    aliases: ["post_v1_validator_duties_sync"],
    summary: "Which validators sit in the sync committee of an epoch, and where.",
    params: {
      epoch: required(epoch, "An epoch of the current or the next sync committee period, or of an earlier one."),
      validator_indices: required(validatorIds, "Indices or public keys of the validators."),
    },
    rest: post("/eth/v1/validator/duties/sync/{epoch}"),
    invoke: ({ operations }, { epoch, validator_indices }) =>
      operations.validator.getSyncCommitteeDutiesOf({ epoch, validators: validator_indices }),
  }),
  defineEntry({
    number: null,
    name: "post_v1_beacon_pool_sync_committees",
    summary: "Submits messages of sync committee members, each signing a head.",
    params: { messages: required(messages, "The signed messages.") },
    rest: post("/eth/v1/beacon/pool/sync_committees"),
    submission: true,
    invoke: ({ operations }, { messages }) =>
      operations.beacon.submitPoolSyncCommitteeSignatures({ signatures: messages }),
  }),
  defineEntry({
    number: null,
    name: "get_v1_validator_sync_committee_contribution",
    summary: "The contribution of a sync subcommittee with the most signers for a block.",
    params: {
      slot: required(slot, "The slot in which the members signed."),
      subcommittee_index: required(uint64, "The subcommittee."),
      beacon_block_root: required(root, "The block that they signed."),
    },
    rest: get("/eth/v1/validator/sync_committee_contribution"),
    invoke: ({ operations }, { slot, subcommittee_index, beacon_block_root }) =>
      operations.validator.produceSyncCommitteeContribution({
        slot,
        subcommitteeIndex: subcommittee_index,
        beaconBlockRoot: fromHex(beacon_block_root),
      }),
  }),
  defineEntry({
    number: null,
    name: "post_v1_validator_contribution_and_proofs",
    summary: "Submits sync committee contributions, each signed by its aggregator.",
    params: { signed_contributions: required(signedContributions, "The signed contributions.") },
    rest: post("/eth/v1/validator/contribution_and_proofs"),
    submission: true,
    invoke: ({ operations }, { signed_contributions }) =>
      operations.validator.publishContributionAndProofs({ contributionAndProofs: signed_contributions }),
  }),
];
