import { ssz } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { CONSENSUS_VERSION } from "./consensus-version.ts";
import { defineEntry, get, optional, post, required } from "./entry.ts";
import { boolean } from "./params/boolean.ts";
import { root, signature } from "./params/bytes.ts";
import { graffiti } from "./params/graffiti.ts";
import { epoch, slot, uint64 } from "./params/integers.ts";
import { payloadList } from "./params/payload-list.ts";
import { plainSszPayload } from "./params/ssz-payload.ts";
import { validatorIndices } from "./params/validator-indices.ts";

const preferences = payloadList(
  "signed proposer preferences",
  plainSszPayload("signed proposer preferences", ssz.gloas.SignedProposerPreferences),
);

/** What the gloas fork will bring for validators: known by name, so that a caller hears why it is not answered. */
export const validatorGloasEntries = [
  defineEntry({
    number: null,
    name: "post_v1_validator_duties_ptc_epoch",
    aliases: ["post_v1_validator_duties_ptc"],
    summary: "Who judges the timeliness of payloads. This comes with gloas, which the node does not support.",
    params: {
      epoch: required(epoch, "The epoch of the duties."),
      validator_indices: required(validatorIndices, "The validators."),
    },
    rest: post("/eth/v1/validator/duties/ptc/{epoch}"),
    invoke: ({ operations }, { epoch, validator_indices }) =>
      operations.validator.getPtcDuties({ epoch, indices: validator_indices }),
  }),
  defineEntry({
    number: null,
    name: "get_v4_validator_blocks_slot",
    aliases: ["get_v4_validator_block"],
    summary: "A new block without its payload. Such blocks come with gloas, which the node does not support.",
    params: {
      slot: required(slot, "The slot of the block."),
      randao_reveal: required(signature, "The proposer's signature over the epoch."),
      graffiti: optional(graffiti, "At most 32 bytes of text or hex."),
      skip_randao_verification: optional(boolean, "Takes the point at infinity in place of a reveal."),
      include_payload: optional(boolean, "Whether the payload is to come with the block."),
      builder_boost_factor: optional(uint64, "How much a builder's bid counts, in percent."),
    },
    rest: get("/eth/v4/validator/blocks/{slot}"),
    invoke: ({ operations }, { slot, randao_reveal, include_payload = false }) =>
      operations.validator.produceBlockV4({ slot, randaoReveal: randao_reveal, includePayload: include_payload }),
  }),
  defineEntry({
    number: null,
    name: "get_v1_validator_payload_attestation_data",
    summary: "What to sign on the timeliness of a payload. This comes with gloas, which the node does not support.",
    params: { slot: required(slot, "The slot of the payload.") },
    rest: get("/eth/v1/validator/payload_attestation_data"),
    invoke: ({ operations }, args) => operations.validator.producePayloadAttestationData(args),
  }),
  defineEntry({
    number: null,
    name: "post_v1_validator_proposer_preferences",
    summary: "Takes what proposers want of builders. This comes with gloas, which the node does not support.",
    params: {
      signed_preferences: required(preferences, "One for each proposal."),
      consensus_version: CONSENSUS_VERSION,
    },
    rest: post("/eth/v1/validator/proposer_preferences"),
    submission: true,
    invoke: ({ operations }, { signed_preferences }) =>
      operations.validator.submitProposerPreferences({ signedProposerPreferences: signed_preferences }),
  }),
  defineEntry({
    number: null,
    name: "get_v1_validator_execution_payload_bids_slot_builderIndex",
    summary: "The bid of a builder to sign. Bids come with gloas, which the node does not support.",
    params: { slot: required(slot, "The slot of the block."), builder_index: required(uint64, "The builder.") },
    rest: get("/eth/v1/validator/execution_payload_bids/{slot}/{builder_index}"),
    invoke: ({ operations }, { slot, builder_index }) =>
      operations.validator.getExecutionPayloadBid({ slot, builderIndex: builder_index }),
  }),
  defineEntry({
    number: null,
    name: "get_v1_validator_execution_payload_envelopes_slot_beaconBlockRoot",
    summary: "The payload of a block to sign. Envelopes come with gloas, which the node does not support.",
    params: { slot: required(slot, "The slot of the block."), beacon_block_root: required(root, "The block.") },
    rest: get("/eth/v1/validator/execution_payload_envelopes/{slot}/{beacon_block_root}"),
    invoke: ({ operations }, { slot, beacon_block_root }) =>
      operations.validator.getExecutionPayloadEnvelope({ slot, beaconBlockRoot: fromHex(beacon_block_root) }),
  }),
];
