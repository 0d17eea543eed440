import { fromHex } from "@lodestar/utils";
import { BLOCK_PRODUCTION_PARAMS } from "./block-production-params.ts";
import { anotherName, defineEntry, type Entry, each, get, optional, post, required } from "./entry.ts";
import { arrangeAttestationData, arrangeRootAfterSlot } from "./params/attestation-reference.ts";
import { parseFixedHex, root } from "./params/bytes.ts";
import { arrangeProvenSubscription, committeeSubscription } from "./params/committee-subscription.ts";
import { graffitiFrom } from "./params/graffiti.ts";
import { epoch, slot, uint64 } from "./params/integers.ts";
import { signedAggregateAndProof } from "./params/operations.ts";
import { validatorIds } from "./params/validator-ids.ts";
import { syncCommitteeEntries } from "./sync-committee.ts";
import { extendedValidatorEntries } from "./validator-extended.ts";
import { validatorGloasEntries } from "./validator-gloas.ts";

const EPOCH = required(epoch, "The epoch of the duties, at most the one after the current.");

const attesterDuties = defineEntry({
  number: 29,
  name: "get_v1_validator_duties_attester",
  summary: "When and in which committee validators attest in an epoch.",
  params: { epoch: EPOCH, validators: required(validatorIds, "Public keys or indices of the validators.") },
  invoke: ({ operations }, args) => operations.validator.getAttesterDutiesOf(args),
});

const attestationData = defineEntry({
  number: 34,
  name: "get_v1_validator_attestation_data",
  summary: "What a committee's members should sign at a slot.",
  params: {
    slot: required(slot, "The slot of the attestation, at most the one after the current."),
    committee_index: optional(uint64, "The committee at the slot; may be left out from electra on."),
  },
  rest: get("/eth/v1/validator/attestation_data"),
  invoke: ({ operations }, { slot, committee_index }) =>
    operations.validator.produceAttestationData({ slot, committeeIndex: committee_index }),
});

const aggregateAttestation = defineEntry({
  number: 36,
  name: "get_v1_validator_aggregate_attestation",
  summary: "The attestation with the most votes for some attestation data, before electra.",
  params: {
    slot: required(slot, "The slot of the attestation data."),
    attestation_data_root: required(root, "The hash tree root of the attestation data."),
  },
  rest: get("/eth/v1/validator/aggregate_attestation"),
  invoke: ({ operations }, { slot, attestation_data_root }) =>
    operations.validator.getAggregatedAttestation({ slot, attestationDataRoot: attestation_data_root }),
});

const aggregateAndProofs = defineEntry({
  number: 38,
  name: "post_v1_validator_aggregate_and_proofs",
  summary: "Submits aggregates, each signed by its aggregator.",
  params: { signed_aggregates: each(signedAggregateAndProof, "Aggregates in the form of their slot's fork.") },
  rest: post("/eth/v1/validator/aggregate_and_proofs"),
  submission: true,
  invoke: ({ operations }, { signed_aggregates }) =>
    operations.validator.publishAggregateAndProofsV2({ signedAggregateAndProofs: signed_aggregates }),
});

export const validatorEntries: Entry[] = [
  attesterDuties,
  {
    ...attesterDuties,
    number: 30,
    name: "post_v1_validator_duties_attester",
    aliases: ["post_v1_validator_duties_attester_epoch"],
    rest: post("/eth/v1/validator/duties/attester/{epoch}"),
  },
  defineEntry({
    number: 31,
    name: "get_v1_validator_duties_proposer",
    aliases: ["get_v1_validator_duties_proposer_epoch"],
    summary: "Who proposes at each slot of an epoch.",
    params: { epoch: EPOCH },
    rest: get("/eth/v1/validator/duties/proposer/{epoch}"),
    invoke: ({ operations }, args) => operations.validator.getProposerDuties(args),
  }),
  defineEntry({
    number: 32,
    name: "get_v1_validator_block",
    aliases: ["get_v2_validator_blocks_slot", "get_v1_validator_blocks_slot"],
    summary: "A new block on the head for its proposer to sign.",
    params: {
      ...BLOCK_PRODUCTION_PARAMS,
    },
    arrange: arrangeRevealBeforeGraffiti,
    rest: get("/eth/v2/validator/blocks/{slot}"),
    invoke: ({ operations }, { slot, randao_reveal, graffiti, skip_randao_verification }) =>
      operations.validator.produceBlockV2({
        slot,
        randaoReveal: randao_reveal,
        graffiti,
        skipRandaoVerification: skip_randao_verification,
      }),
  }),
  attestationData,
  anotherName(attestationData, {
    number: 35,
    name: "get_v1_validator_attestation",
    summary: "Another name of get_v1_validator_attestation_data.",
  }),
  aggregateAttestation,
  anotherName(aggregateAttestation, {
    number: 37,
    name: "get_v1_validator_aggregate_and_proof",
    summary: "As get_v1_validator_aggregate_attestation; takes one AttestationData as well. It has no proof in it.",
    arrange: arrangeAttestationData,
  }),
  defineEntry({
    number: null,
    name: "get_v2_validator_aggregate_attestation",
    summary: "The attestation of a committee with the most votes for some attestation data.",
    params: {
      slot: required(slot, "The slot of the attestation data."),
      attestation_data_root: required(root, "The hash tree root of the attestation data."),
      committee_index: required(uint64, "The committee at the slot."),
    },
    arrange: arrangeRootAfterSlot,
    rest: get("/eth/v2/validator/aggregate_attestation"),
    invoke: ({ operations }, { slot, attestation_data_root, committee_index }) =>
      operations.validator.getAggregatedAttestationV2({
        slot,
        attestationDataRoot: fromHex(attestation_data_root),
        committeeIndex: committee_index,
      }),
  }),
  aggregateAndProofs,
  anotherName(aggregateAndProofs, {
    number: 39,
    name: "post_v1_validator_aggregate_and_proof",
    summary: "Another name of post_v1_validator_aggregate_and_proofs.",
  }),
  defineEntry({
    number: 40,
    name: "post_v1_validator_beacon_committee_subscriptions",
    summary: "Tells the node in which committees validators will attest or aggregate.",
    params: { subscriptions: each(committeeSubscription, "One for each validator and slot.") },
    arrange: arrangeProvenSubscription,
    rest: post("/eth/v1/validator/beacon_committee_subscriptions"),
    submission: true,
    invoke: ({ operations }, args) => operations.validator.subscribeToCommittees(args),
  }),
  ...syncCommitteeEntries,
  ...extendedValidatorEntries,
  ...validatorGloasEntries,
];

/** Servers of old took the graffiti first; their lengths tell the two apart. */
function arrangeRevealBeforeGraffiti(params: unknown[]): unknown[] {
  const [slot, first, second, ...rest] = params;
  const isSwapped = parseFixedHex(second, 96) !== undefined && graffitiFrom(first) !== undefined;
  return isSwapped ? [slot, second, first, ...rest] : params;
}
