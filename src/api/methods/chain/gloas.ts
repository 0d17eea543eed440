import { ForkName } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { unsupported } from "../../../errors/failure.ts";
import { defineEncoded, defineOperation, get, optional, post, type Result, required } from "../../definition.ts";
import { broadcastValidation } from "../../params/common.ts";
import { CONSENSUS_VERSION } from "../../params/consensus-version.ts";
import { boolean, graffiti, graffitiHex, root, signature, slot, uint64 } from "../../params/scalars.ts";
import {
  payloadList,
  plainSszPayload,
  readSszJson,
  requireObject,
  sszPayload,
  TOP_LEVEL,
} from "../../params/ssz-payload.ts";

// Operations of the standard since gloas. The node does not serve them; the gateway forwards them to its upstreams.

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
function notImplemented(noun: string) {
  return {
    failures: ["unsupported"],
    cost: "cheap",
    since: ForkName.gloas,
    async handler(): Promise<never> {
      throw unsupported(
        `${noun} are not served over the API. On a dev chain, its own validators perform the duties of gloas.`,
      );
    },
  } as const;
}

const publishExecutionPayloadBid = defineOperation("beacon.publishExecutionPayloadBid", {
  ...notImplemented("Execution payload bids"),
  name: "post_v1_beacon_execution_payload_bids",
  summary: "Submits a builder's bid. Not implemented.",
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
    isUnsupported: true,
    params: () => [SignedExecutionPayloadBid.toJson(SignedExecutionPayloadBid.defaultValue()), ForkName.gloas],
  },
});

const envelopeOrContents = sszPayload("a signed execution payload envelope", (json) =>
  Object.hasOwn(requireObject(json, TOP_LEVEL), "blobs")
    ? readSszJson(SignedExecutionPayloadEnvelopeContents, json)
    : readSszJson(SignedExecutionPayloadEnvelope, json),
);

const publishExecutionPayloadEnvelope = defineOperation("beacon.publishExecutionPayloadEnvelope", {
  ...notImplemented("Execution payload envelopes"),
  name: "post_v1_beacon_execution_payload_envelopes",
  summary: "Publishes an execution payload envelope. Not implemented.",
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
    isUnsupported: true,
    params: () => {
      const envelope = SignedExecutionPayloadEnvelope.toJson(SignedExecutionPayloadEnvelope.defaultValue());
      return [envelope, "gossip", ForkName.gloas, false];
    },
  },
});

const submitPayloadAttestations = defineOperation("beacon.submitPayloadAttestationMessages", {
  ...notImplemented("Payload attestations"),
  name: "post_v1_beacon_pool_payload_attestations",
  summary: "Submits payload attestations. Not implemented.",
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
    isUnsupported: true,
    params: () => [[PayloadAttestationMessage.toJson(PayloadAttestationMessage.defaultValue())], ForkName.gloas],
  },
});

const produceBlockV4 = defineOperation("validator.produceBlockV4", {
  ...notImplemented("Blocks without payloads"),
  name: "get_v4_validator_blocks_slot",
  aliases: ["get_v4_validator_block"],
  summary: "A new block without its payload. Not implemented.",
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
    isUnsupported: true,
    params: async (chain) => [String(chain.slot), await chain.randaoReveal(), "an example", false, true, "100"],
  },
});

const submitProposerPreferences = defineOperation("validator.submitProposerPreferences", {
  ...notImplemented("Proposer preferences"),
  name: "post_v1_validator_proposer_preferences",
  summary: "Submits proposer preferences for builders. Not implemented.",
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
    isUnsupported: true,
    params: () => [[SignedProposerPreferences.toJson(SignedProposerPreferences.defaultValue())], ForkName.gloas],
  },
});

const getExecutionPayloadBid = defineEncoded({
  ...notImplemented("Execution payload bids"),
  name: "get_v1_validator_execution_payload_bids_slot_builderIndex",
  summary: "A builder's bid to sign. Not implemented.",
  params: { slot: required(slot, "The slot of the block."), builderIndex: required(uint64, "The builder.") },
  result: anything("bid"),
  rest: [get("/eth/v1/validator/execution_payload_bids/{slot}/{builder_index}", { ssz: "response" })],
  access: "read",
  example: { isUnsupported: true, params: (chain) => [String(chain.slot), "0"] },
  codec: ({ validator }) => ({ data: ExecutionPayloadBid, meta: validator.getAggregatedAttestationV2.resp.meta }),
});

const getExecutionPayloadEnvelope = defineOperation("validator.getExecutionPayloadEnvelope", {
  ...notImplemented("Execution payload envelopes"),
  name: "get_v1_validator_execution_payload_envelopes_slot_beaconBlockRoot",
  summary: "An execution payload envelope to sign. Not implemented.",
  params: { slot: required(slot, "The slot of the block."), beaconBlockRoot: required(root, "The block.") },
  result: anything("envelope"),
  rest: [get("/eth/v1/validator/execution_payload_envelopes/{slot}/{beacon_block_root}", { ssz: "response" })],
  access: "read",
  example: { isUnsupported: true, params: (chain) => [String(chain.slot), chain.headRoot] },
});

export const beaconGloasMethods = [
  publishExecutionPayloadBid,
  publishExecutionPayloadEnvelope,
  submitPayloadAttestations,
] as const;

export const validatorGloasMethods = [
  produceBlockV4,
  submitProposerPreferences,
  getExecutionPayloadBid,
  getExecutionPayloadEnvelope,
] as const;
