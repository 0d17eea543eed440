import { BLOCK_PRODUCTION_PARAMS } from "./block-production-params.ts";
import { CONSENSUS_VERSION, requireVoteVersion } from "./consensus-version.ts";
import { defineEntry, get, optional, post, required } from "./entry.ts";
import { epoch, uint64 } from "./params/integers.ts";
import { signedAggregateAndProof } from "./params/operations.ts";
import { payloadList } from "./params/payload-list.ts";
import {
  committeeSelections,
  proposerPreparations,
  signedRegistrations,
  syncSelections,
  syncSubscriptions,
} from "./params/preparations.ts";
import { validatorIndices } from "./params/validator-indices.ts";

const signedAggregates = payloadList("signed aggregates with their proofs", signedAggregateAndProof);

/** What the standard has for validator clients beyond the interface's numbered methods. */
export const extendedValidatorEntries = [
  defineEntry({
    number: null,
    name: "get_v2_validator_duties_proposer_epoch",
    aliases: ["get_v2_validator_duties_proposer"],
    summary: "Who proposes at each slot of an epoch, with the dependent root of one epoch earlier.",
    params: { epoch: required(epoch, "The epoch of the duties, at most the one after the current.") },
    rest: get("/eth/v2/validator/duties/proposer/{epoch}"),
    invoke: ({ operations }, args) => operations.validator.getProposerDutiesV2(args),
  }),
  defineEntry({
    number: null,
    name: "get_v3_validator_blocks_slot",
    aliases: ["get_v3_validator_block"],
    summary: "A new block on the head for its proposer to sign, with what it is worth beside it.",
    params: {
      ...BLOCK_PRODUCTION_PARAMS,
      builder_boost_factor: optional(uint64, "Has no effect, because no builder is asked."),
    },
    rest: get("/eth/v3/validator/blocks/{slot}"),
    invoke: ({ operations }, { slot, randao_reveal, graffiti, skip_randao_verification }) =>
      operations.validator.produceBlockV3Of({
        slot,
        randaoReveal: randao_reveal,
        graffiti,
        skipRandaoVerification: skip_randao_verification,
      }),
  }),
  defineEntry({
    number: null,
    name: "post_v2_validator_aggregate_and_proofs",
    summary: "Submits aggregates, each signed by its aggregator.",
    params: {
      signed_aggregates: required(signedAggregates, "Aggregates in the form of their slot's fork."),
      consensus_version: CONSENSUS_VERSION,
    },
    rest: post("/eth/v2/validator/aggregate_and_proofs"),
    submission: true,
    invoke: async ({ operations, chainConfig }, { signed_aggregates, consensus_version }) => {
      for (const { message } of signed_aggregates) {
        requireVoteVersion(consensus_version, chainConfig.getForkName(message.aggregate.data.slot));
      }
      return operations.validator.publishAggregateAndProofsV2({ signedAggregateAndProofs: signed_aggregates });
    },
  }),
  defineEntry({
    number: null,
    name: "post_v1_validator_liveness_epoch",
    aliases: ["post_v1_validator_liveness"],
    summary: "Whether validators were seen to do anything in an epoch.",
    params: {
      epoch: required(epoch, "The current epoch or the one before it."),
      validator_indices: required(validatorIndices, "The validators."),
    },
    rest: post("/eth/v1/validator/liveness/{epoch}"),
    invoke: ({ operations }, { epoch, validator_indices }) =>
      operations.validator.getLiveness({ epoch, indices: validator_indices }),
  }),
  defineEntry({
    number: null,
    name: "post_v1_validator_prepare_beacon_proposer",
    summary: "Tells the node where the fees of validators' blocks are to go, for this epoch and two more.",
    params: { preparations: required(proposerPreparations, "One for each validator.") },
    rest: post("/eth/v1/validator/prepare_beacon_proposer"),
    submission: true,
    invoke: ({ operations }, { preparations }) =>
      operations.validator.prepareBeaconProposer({ proposers: preparations }),
  }),
  defineEntry({
    number: null,
    name: "post_v1_validator_register_validator",
    summary: "Registers validators for builders; the node keeps this, but it asks no builder.",
    params: { signed_registrations: required(signedRegistrations, "One for each validator.") },
    rest: post("/eth/v1/validator/register_validator"),
    submission: true,
    invoke: ({ operations }, { signed_registrations }) =>
      operations.validator.registerValidator({ registrations: signed_registrations }),
  }),
  defineEntry({
    number: null,
    name: "post_v1_validator_sync_committee_subscriptions",
    summary: "Tells the node in which sync subcommittees validators take part.",
    params: { subscriptions: required(syncSubscriptions, "One for each validator.") },
    rest: post("/eth/v1/validator/sync_committee_subscriptions"),
    submission: true,
    invoke: ({ operations }, args) => operations.validator.prepareSyncCommitteeSubnets(args),
  }),
  defineEntry({
    number: null,
    name: "post_v1_validator_beacon_committee_selections",
    summary: "Combines selection proofs of distributed validators; only their middleware supports it.",
    params: { selections: required(committeeSelections, "The partial selection proofs.") },
    rest: post("/eth/v1/validator/beacon_committee_selections"),
    invoke: ({ operations }, args) => operations.validator.submitBeaconCommitteeSelections(args),
  }),
  defineEntry({
    number: null,
    name: "post_v1_validator_sync_committee_selections",
    summary: "Combines sync committee selection proofs of distributed validators; only their middleware supports it.",
    params: { selections: required(syncSelections, "The partial selection proofs.") },
    rest: post("/eth/v1/validator/sync_committee_selections"),
    invoke: ({ operations }, args) => operations.validator.submitSyncCommitteeSelections(args),
  }),
];
