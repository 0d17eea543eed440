import { ForkName } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { type Failure, unsupported } from "../../../errors/failure.ts";
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

// What the fork after those that the node knows will bring: known by name, so that a caller hears why it is not answered.

const {
  ExecutionPayloadBid,
  PayloadAttestationMessage,
  SignedExecutionPayloadBid,
  SignedExecutionPayloadEnvelope,
  SignedExecutionPayloadEnvelopeContents,
  SignedProposerPreferences,
} = ssz.gloas;

const REFUSED = { failures: ["unsupported"], cost: "cheap", since: ForkName.gloas } as const;

/** A refused call has no result to describe. */
const anything = (name: string): Result => ({ name, schema: {} });

function ofGloas(what: string): Failure {
  return unsupported(`${what} come with the gloas fork, which this node does not support.`);
}

const getStateBuilders = defineOperation("beacon.getStateBuilders", {
  ...REFUSED,
  name: "post_v1_beacon_states_stateId_builders",
  summary: "The builders of a state. They come with gloas, which the node does not support.",
  params: {
    stateId: STATE_ID,
    filter: optional(
      registryFilter(stringEnum(["pending", "active", "exited"])),
      "Only builders with these ids and statuses; a list left out means all.",
    ),
  },
  result: anything("builders"),
  rest: [post("/eth/v1/beacon/states/{state_id}/builders")],
  access: "read",
  example: { params: ["head", { ids: ["0"], statuses: ["active"] }] },
  async handler() {
    throw ofGloas("Builders");
  },
});

const publishExecutionPayloadBid = defineOperation("beacon.publishExecutionPayloadBid", {
  ...REFUSED,
  name: "post_v1_beacon_execution_payload_bids",
  summary: "Takes the bid of a builder. Bids come with gloas, which the node does not support.",
  params: {
    signedExecutionPayloadBid: required(
      plainSszPayload("a signed execution payload bid", SignedExecutionPayloadBid),
      "The bid, signed by its builder.",
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
  async handler() {
    throw ofGloas("Bids for execution payloads");
  },
});

const envelopeOrContents = sszPayload("a signed execution payload envelope", (json) =>
  Object.hasOwn(requireObject(json, TOP_LEVEL), "blobs")
    ? readSszJson(SignedExecutionPayloadEnvelopeContents, json)
    : readSszJson(SignedExecutionPayloadEnvelope, json),
);

const publishExecutionPayloadEnvelope = defineOperation("beacon.publishExecutionPayloadEnvelope", {
  ...REFUSED,
  name: "post_v1_beacon_execution_payload_envelopes",
  summary: "Takes the payload of a block. Payloads come apart from blocks with gloas, which the node does not support.",
  params: {
    signedEnvelopeOrContents: required(
      envelopeOrContents,
      "The envelope, signed by its builder, alone or together with the blobs.",
    ),
    broadcastValidation: optional(broadcastValidation, "The rules that it must pass to be broadcast."),
    consensusVersion: CONSENSUS_VERSION,
    blobDataIncluded: optional(boolean, "Whether the blobs came with it.", {
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
  async handler() {
    throw ofGloas("Envelopes of execution payloads");
  },
});

const getSignedExecutionPayloadEnvelope = defineOperation("beacon.getSignedExecutionPayloadEnvelope", {
  ...REFUSED,
  name: "get_v1_beacon_execution_payload_envelopes_blockId",
  summary: "The payload of a block in its envelope. Envelopes come with gloas, which the node does not support.",
  params: { blockId: BLOCK_ID },
  result: anything("envelope"),
  rest: [get("/eth/v1/beacon/execution_payload_envelopes/{block_id}", { ssz: "answer" })],
  access: "read",
  example: { params: ["head"] },
  async handler() {
    throw ofGloas("Envelopes of execution payloads");
  },
});

const getPoolPayloadAttestations = defineOperation("beacon.getPoolPayloadAttestations", {
  ...REFUSED,
  name: "get_v1_beacon_pool_payload_attestations",
  summary: "Attestations to the timeliness of payloads. They come with gloas, which the node does not support.",
  params: { slot: optional(slot, "Only those of this slot.") },
  result: anything("payload_attestations"),
  rest: [get("/eth/v1/beacon/pool/payload_attestations", { ssz: "answer" })],
  access: "read",
  example: { params: (chain) => [String(chain.slot)] },
  async handler() {
    throw ofGloas("Payload attestations");
  },
});

const submitPayloadAttestations = defineOperation("beacon.submitPayloadAttestationMessages", {
  ...REFUSED,
  name: "post_v1_beacon_pool_payload_attestations",
  summary: "Takes attestations to the timeliness of payloads. They come with gloas, which the node does not support.",
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
  async handler() {
    throw ofGloas("Payload attestations");
  },
});

const getPtcDuties = defineOperation("validator.getPtcDuties", {
  ...REFUSED,
  name: "post_v1_validator_duties_ptc_epoch",
  aliases: ["post_v1_validator_duties_ptc"],
  summary: "Who judges the timeliness of payloads. This comes with gloas, which the node does not support.",
  params: {
    epoch: required(epoch, "The epoch of the duties."),
    indices: required(validatorIndices, "The validators.", { name: "validator_indices" }),
  },
  result: anything("duties"),
  rest: [post("/eth/v1/validator/duties/ptc/{epoch}")],
  access: "read",
  example: { params: (chain) => [String(chain.epoch), ["3", "4"]] },
  async handler() {
    throw ofGloas("Payload timeliness committees");
  },
});

const produceBlockV4 = defineOperation("validator.produceBlockV4", {
  ...REFUSED,
  name: "get_v4_validator_blocks_slot",
  aliases: ["get_v4_validator_block"],
  summary: "A new block without its payload. Such blocks come with gloas, which the node does not support.",
  params: {
    slot: required(slot, "The slot of the block."),
    randaoReveal: required(signature, "The proposer's signature over the epoch."),
    graffiti: optional(graffiti, "At most 32 bytes of text or hex.", { restSchema: graffitiHex }),
    skipRandaoVerification: optional(boolean, "Takes the point at infinity in place of a reveal.", { isFlag: true }),
    includePayload: optional(boolean, "Whether the payload is to come with the block."),
    builderBoostFactor: optional(uint64, "How much a builder's bid counts, in percent."),
  },
  result: anything("block"),
  rest: [get("/eth/v4/validator/blocks/{slot}", { ssz: "answer" })],
  access: "read",
  example: {
    params: async (chain) => [String(chain.slot), await chain.randaoReveal(), "an example", false, true, "100"],
  },
  async handler() {
    throw ofGloas("Blocks without payloads");
  },
});

const producePayloadAttestationData = defineOperation("validator.producePayloadAttestationData", {
  ...REFUSED,
  name: "get_v1_validator_payload_attestation_data",
  summary: "What to sign on the timeliness of a payload. This comes with gloas, which the node does not support.",
  params: { slot: required(slot, "The slot of the payload.") },
  result: anything("payload_attestation_data"),
  rest: [get("/eth/v1/validator/payload_attestation_data", { ssz: "answer" })],
  access: "read",
  example: { params: (chain) => [String(chain.slot)] },
  async handler() {
    throw ofGloas("Payload attestations");
  },
});

const submitProposerPreferences = defineOperation("validator.submitProposerPreferences", {
  ...REFUSED,
  name: "post_v1_validator_proposer_preferences",
  summary: "Takes what proposers want of builders. This comes with gloas, which the node does not support.",
  params: {
    signedProposerPreferences: required(
      payloadList(
        "signed proposer preferences",
        plainSszPayload("signed proposer preferences", SignedProposerPreferences),
      ),
      "One for each proposal.",
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
  async handler() {
    throw ofGloas("Preferences of proposers");
  },
});

const getExecutionPayloadBid = defineEncoded({
  ...REFUSED,
  name: "get_v1_validator_execution_payload_bids_slot_builderIndex",
  summary: "The bid of a builder to sign. Bids come with gloas, which the node does not support.",
  params: { slot: required(slot, "The slot of the block."), builderIndex: required(uint64, "The builder.") },
  result: anything("bid"),
  rest: [get("/eth/v1/validator/execution_payload_bids/{slot}/{builder_index}", { ssz: "answer" })],
  access: "read",
  example: { params: (chain) => [String(chain.slot), "0"] },
  codec: ({ validator }) => ({ data: ExecutionPayloadBid, meta: validator.getAggregatedAttestationV2.resp.meta }),
  async handler() {
    throw ofGloas("Bids for execution payloads");
  },
});

const getExecutionPayloadEnvelope = defineOperation("validator.getExecutionPayloadEnvelope", {
  ...REFUSED,
  name: "get_v1_validator_execution_payload_envelopes_slot_beaconBlockRoot",
  summary: "The payload of a block to sign. Envelopes come with gloas, which the node does not support.",
  params: { slot: required(slot, "The slot of the block."), beaconBlockRoot: required(root, "The block.") },
  result: anything("envelope"),
  rest: [get("/eth/v1/validator/execution_payload_envelopes/{slot}/{beacon_block_root}", { ssz: "answer" })],
  access: "read",
  example: { params: (chain) => [String(chain.slot), chain.headRoot] },
  async handler() {
    throw ofGloas("Envelopes of execution payloads");
  },
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
