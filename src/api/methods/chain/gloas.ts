import { ForkName } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { unsupported } from "../../../errors/failure.ts";
import { defineEncoded, defineOperation, get, optional, post, type Result, required } from "../../definition.ts";
import { BLOCK_ID, broadcastValidation, STATE_ID } from "../../params/common.ts";
import { CONSENSUS_VERSION } from "../../params/consensus-version.ts";
import { validatorIndices } from "../../params/identifiers.ts";
import { registryFilter } from "../../params/registry-filter.ts";
import {
  boolean,
  epoch,
  graffiti,
  graffitiHex,
  root,
  signature,
  slot,
  stringEnum,
  uint64,
} from "../../params/scalars.ts";
import {
  payloadList,
  plainSszPayload,
  readSszJson,
  requireObject,
  sszPayload,
  TOP_LEVEL,
} from "../../params/ssz-payload.ts";

// Methods from the gloas fork, which this node does not support. They exist so that calls fail with this as the reason.

const {
  ExecutionPayloadBid,
  PayloadAttestationMessage,
  SignedExecutionPayloadBid,
  SignedExecutionPayloadEnvelope,
  SignedExecutionPayloadEnvelopeContents,
  SignedProposerPreferences,
} = ssz.gloas;

/** The results are not described, since no call succeeds. */
const anything = (name: string): Result => ({ name, schema: {} });

/** Members common to these methods. All calls fail. */
function requiresGloas(noun: string) {
  return {
    failures: ["unsupported"],
    cost: "cheap",
    since: ForkName.gloas,
    async handler(): Promise<never> {
      throw unsupported(`${noun} require the gloas fork, which this node does not support.`);
    },
  } as const;
}

const getStateBuilders = defineOperation("beacon.getStateBuilders", {
  ...requiresGloas("Builders"),
  name: "post_v1_beacon_states_stateId_builders",
  summary: "The builders of a state. Unsupported: requires gloas.",
  params: {
    stateId: STATE_ID,
    filter: optional(
      registryFilter(stringEnum(["pending", "active", "exited"])),
      "Ids and statuses of the builders. Default: all.",
    ),
  },
  result: anything("builders"),
  rest: [post("/eth/v1/beacon/states/{state_id}/builders")],
  access: "read",
  example: { params: ["head", { ids: ["0"], statuses: ["active"] }] },
});

const publishExecutionPayloadBid = defineOperation("beacon.publishExecutionPayloadBid", {
  ...requiresGloas("Execution payload bids"),
  name: "post_v1_beacon_execution_payload_bids",
  summary: "Submits a builder's bid. Unsupported: requires gloas.",
  params: {
    signedExecutionPayloadBid: required(
      plainSszPayload("a signed execution payload bid", SignedExecutionPayloadBid),
      "Bid signed by its builder.",
      { name: "signed_bid" },
    ),
    consensusVersion: CONSENSUS_VERSION,
  },
  result: anything("accepted"),
  rest: [post("/eth/v1/beacon/execution_payload_bids", { ssz: "body" })],
  access: "submit",
  example: {
    params: () => [SignedExecutionPayloadBid.toJson(SignedExecutionPayloadBid.defaultValue()), ForkName.gloas],
  },
});

const envelopeOrContents = sszPayload("a signed execution payload envelope", (json) =>
  Object.hasOwn(requireObject(json, TOP_LEVEL), "blobs")
    ? readSszJson(SignedExecutionPayloadEnvelopeContents, json)
    : readSszJson(SignedExecutionPayloadEnvelope, json),
);

const publishExecutionPayloadEnvelope = defineOperation("beacon.publishExecutionPayloadEnvelope", {
  ...requiresGloas("Execution payload envelopes"),
  name: "post_v1_beacon_execution_payload_envelopes",
  summary: "Publishes an execution payload envelope. Unsupported: requires gloas.",
  params: {
    signedEnvelopeOrContents: required(envelopeOrContents, "Envelope signed by its builder, optionally with blobs."),
    broadcastValidation: optional(broadcastValidation, "Validation that it must pass before it is broadcast."),
    consensusVersion: CONSENSUS_VERSION,
    blobDataIncluded: optional(boolean, "True if the blobs are included.", {
      header: { name: "Eth-Blob-Data-Included", isRequired: false },
    }),
  },
  result: anything("status"),
  rest: [post("/eth/v1/beacon/execution_payload_envelopes", { ssz: "body" })],
  access: "submit",
  example: {
    params: () => {
      const envelope = SignedExecutionPayloadEnvelope.toJson(SignedExecutionPayloadEnvelope.defaultValue());
      return [envelope, "gossip", ForkName.gloas, false];
    },
  },
});

const getSignedExecutionPayloadEnvelope = defineOperation("beacon.getSignedExecutionPayloadEnvelope", {
  ...requiresGloas("Execution payload envelopes"),
  name: "get_v1_beacon_execution_payload_envelopes_blockId",
  summary: "The signed execution payload envelope of a block. Unsupported: requires gloas.",
  params: { blockId: BLOCK_ID },
  result: anything("envelope"),
  rest: [get("/eth/v1/beacon/execution_payload_envelopes/{block_id}", { ssz: "response" })],
  access: "read",
  example: { params: ["head"] },
});

const getPoolPayloadAttestations = defineOperation("beacon.getPoolPayloadAttestations", {
  ...requiresGloas("Payload attestations"),
  name: "get_v1_beacon_pool_payload_attestations",
  summary: "Payload attestations in the pool. Unsupported: requires gloas.",
  params: { slot: optional(slot, "Slot of the attestations.") },
  result: anything("payload_attestations"),
  rest: [get("/eth/v1/beacon/pool/payload_attestations", { ssz: "response" })],
  access: "read",
  example: { params: (chain) => [String(chain.slot)] },
});

const submitPayloadAttestations = defineOperation("beacon.submitPayloadAttestationMessages", {
  ...requiresGloas("Payload attestations"),
  name: "post_v1_beacon_pool_payload_attestations",
  summary: "Submits payload attestations. Unsupported: requires gloas.",
  params: {
    payloadAttestationMessages: required(
      payloadList(
        "payload attestation messages",
        plainSszPayload("a payload attestation message", PayloadAttestationMessage),
      ),
      "The signed attestations.",
      { name: "messages" },
    ),
    consensusVersion: CONSENSUS_VERSION,
  },
  result: anything("accepted"),
  rest: [post("/eth/v1/beacon/pool/payload_attestations", { ssz: "body" })],
  access: "submit",
  example: {
    params: () => [[PayloadAttestationMessage.toJson(PayloadAttestationMessage.defaultValue())], ForkName.gloas],
  },
});

const getPtcDuties = defineOperation("validator.getPtcDuties", {
  ...requiresGloas("Payload timeliness committees"),
  name: "post_v1_validator_duties_ptc_epoch",
  aliases: ["post_v1_validator_duties_ptc"],
  summary: "Duties of the payload timeliness committee. Unsupported: requires gloas.",
  params: {
    epoch: required(epoch, "The epoch of the duties."),
    indices: required(validatorIndices, "The validators.", { name: "validator_indices" }),
  },
  result: anything("duties"),
  rest: [post("/eth/v1/validator/duties/ptc/{epoch}")],
  access: "read",
  example: { params: (chain) => [String(chain.epoch), ["3", "4"]] },
});

const produceBlockV4 = defineOperation("validator.produceBlockV4", {
  ...requiresGloas("Blocks without payloads"),
  name: "get_v4_validator_blocks_slot",
  aliases: ["get_v4_validator_block"],
  summary: "A new block without its payload. Unsupported: requires gloas.",
  params: {
    slot: required(slot, "The slot of the block."),
    randaoReveal: required(signature, "The proposer's signature over the epoch."),
    graffiti: optional(graffiti, "At most 32 bytes of text or hex.", { restSchema: graffitiHex }),
    skipRandaoVerification: optional(boolean, "Accepts the point at infinity as the reveal.", { isFlag: true }),
    includePayload: optional(boolean, "True to include the payload."),
    builderBoostFactor: optional(uint64, "Weight of builder bids, in percent."),
  },
  result: anything("block"),
  rest: [get("/eth/v4/validator/blocks/{slot}", { ssz: "response" })],
  access: "read",
  example: {
    params: async (chain) => [String(chain.slot), await chain.randaoReveal(), "an example", false, true, "100"],
  },
});

const producePayloadAttestationData = defineOperation("validator.producePayloadAttestationData", {
  ...requiresGloas("Payload attestations"),
  name: "get_v1_validator_payload_attestation_data",
  summary: "Payload attestation data to sign. Unsupported: requires gloas.",
  params: { slot: required(slot, "The slot of the payload.") },
  result: anything("payload_attestation_data"),
  rest: [get("/eth/v1/validator/payload_attestation_data", { ssz: "response" })],
  access: "read",
  example: { params: (chain) => [String(chain.slot)] },
});

const submitProposerPreferences = defineOperation("validator.submitProposerPreferences", {
  ...requiresGloas("Proposer preferences"),
  name: "post_v1_validator_proposer_preferences",
  summary: "Submits proposer preferences for builders. Unsupported: requires gloas.",
  params: {
    signedProposerPreferences: required(
      payloadList(
        "signed proposer preferences",
        plainSszPayload("signed proposer preferences", SignedProposerPreferences),
      ),
      "Preferences, one per proposal.",
      { name: "signed_preferences" },
    ),
    consensusVersion: CONSENSUS_VERSION,
  },
  result: anything("accepted"),
  rest: [post("/eth/v1/validator/proposer_preferences", { ssz: "body" })],
  access: "submit",
  example: {
    params: () => [[SignedProposerPreferences.toJson(SignedProposerPreferences.defaultValue())], ForkName.gloas],
  },
});

const getExecutionPayloadBid = defineEncoded({
  ...requiresGloas("Execution payload bids"),
  name: "get_v1_validator_execution_payload_bids_slot_builderIndex",
  summary: "A builder's bid to sign. Unsupported: requires gloas.",
  params: { slot: required(slot, "The slot of the block."), builderIndex: required(uint64, "The builder.") },
  result: anything("bid"),
  rest: [get("/eth/v1/validator/execution_payload_bids/{slot}/{builder_index}", { ssz: "response" })],
  access: "read",
  example: { params: (chain) => [String(chain.slot), "0"] },
  codec: ({ validator }) => ({ data: ExecutionPayloadBid, meta: validator.getAggregatedAttestationV2.resp.meta }),
});

const getExecutionPayloadEnvelope = defineOperation("validator.getExecutionPayloadEnvelope", {
  ...requiresGloas("Execution payload envelopes"),
  name: "get_v1_validator_execution_payload_envelopes_slot_beaconBlockRoot",
  summary: "An execution payload envelope to sign. Unsupported: requires gloas.",
  params: { slot: required(slot, "The slot of the block."), beaconBlockRoot: required(root, "The block.") },
  result: anything("envelope"),
  rest: [get("/eth/v1/validator/execution_payload_envelopes/{slot}/{beacon_block_root}", { ssz: "response" })],
  access: "read",
  example: { params: (chain) => [String(chain.slot), chain.headRoot] },
});

export const beaconGloasMethods = [
  getStateBuilders,
  publishExecutionPayloadBid,
  publishExecutionPayloadEnvelope,
  getSignedExecutionPayloadEnvelope,
  getPoolPayloadAttestations,
  submitPayloadAttestations,
] as const;

export const validatorGloasMethods = [
  getPtcDuties,
  produceBlockV4,
  producePayloadAttestationData,
  submitProposerPreferences,
  getExecutionPayloadBid,
  getExecutionPayloadEnvelope,
] as const;
