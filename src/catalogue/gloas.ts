import { ssz } from "@lodestar/types";
import { CONSENSUS_VERSION } from "./consensus-version.ts";
import { defineEntry, get, optional, post, required } from "./entry.ts";
import { boolean } from "./params/boolean.ts";
import { blockId, stateId } from "./params/identifiers.ts";
import { slot } from "./params/integers.ts";
import { payloadList } from "./params/payload-list.ts";
import { builderFilter } from "./params/registry-filter.ts";
import { readSszJson, requireObject, TOP } from "./params/ssz-json.ts";
import { plainSszPayload, sszPayload } from "./params/ssz-payload.ts";
import { word } from "./params/word.ts";

const messages = payloadList(
  "payload attestation messages",
  plainSszPayload("a payload attestation message", ssz.gloas.PayloadAttestationMessage),
);

const envelopeOrContents = sszPayload("a signed execution payload envelope", (json) => {
  const { SignedExecutionPayloadEnvelope, SignedExecutionPayloadEnvelopeContents } = ssz.gloas;
  return Object.hasOwn(requireObject(json, TOP), "blobs")
    ? readSszJson(SignedExecutionPayloadEnvelopeContents, json)
    : readSszJson(SignedExecutionPayloadEnvelope, json);
});

/** What the gloas fork will bring: known by name, so that a caller hears why it is not answered. */
export const gloasEntries = [
  defineEntry({
    number: null,
    name: "post_v1_beacon_states_stateId_builders",
    summary: "The builders of a state. They come with gloas, which the node does not support.",
    params: {
      state_id: required(stateId, "Which state: head, genesis, finalized, justified, a slot or a state root."),
      filter: optional(builderFilter, "Only builders with these ids and statuses; a list left out means all."),
    },
    rest: post("/eth/v1/beacon/states/{state_id}/builders"),
    invoke: ({ operations }, { state_id, filter }) =>
      operations.beacon.getStateBuilders({ stateId: state_id, builderIds: filter?.ids, statuses: filter?.statuses }),
  }),
  defineEntry({
    number: null,
    name: "post_v1_beacon_execution_payload_bids",
    summary: "Takes the bid of a builder. Bids come with gloas, which the node does not support.",
    params: {
      signed_bid: required(
        plainSszPayload("a signed execution payload bid", ssz.gloas.SignedExecutionPayloadBid),
        "The bid, signed by its builder.",
      ),
      consensus_version: CONSENSUS_VERSION,
    },
    rest: post("/eth/v1/beacon/execution_payload_bids"),
    submission: true,
    invoke: ({ operations }, { signed_bid }) =>
      operations.beacon.publishExecutionPayloadBid({ signedExecutionPayloadBid: signed_bid }),
  }),
  defineEntry({
    number: null,
    name: "post_v1_beacon_execution_payload_envelopes",
    summary:
      "Takes the payload of a block. Payloads come apart from blocks with gloas, which the node does not support.",
    params: {
      signed_envelope_or_contents: required(
        envelopeOrContents,
        "The envelope, signed by its builder, alone or together with the blobs.",
      ),
      broadcast_validation: optional(
        word(["gossip", "consensus", "consensus_and_equivocation"]),
        "The rules that it must pass to be broadcast.",
      ),
      consensus_version: CONSENSUS_VERSION,
      blob_data_included: optional(boolean, "Whether the blobs came with it."),
    },
    rest: post("/eth/v1/beacon/execution_payload_envelopes"),
    submission: true,
    invoke: ({ operations }, { signed_envelope_or_contents }) =>
      operations.beacon.publishExecutionPayloadEnvelope({ signedEnvelopeOrContents: signed_envelope_or_contents }),
  }),
  defineEntry({
    number: null,
    name: "get_v1_beacon_execution_payload_envelopes_blockId",
    summary: "The payload of a block in its envelope. Envelopes come with gloas, which the node does not support.",
    params: { block_id: required(blockId, "Which block: head, genesis, finalized, a slot or a block root.") },
    rest: get("/eth/v1/beacon/execution_payload_envelopes/{block_id}"),
    invoke: ({ operations }, { block_id }) =>
      operations.beacon.getSignedExecutionPayloadEnvelope({ blockId: block_id }),
  }),
  defineEntry({
    number: null,
    name: "get_v1_beacon_pool_payload_attestations",
    summary: "Votes on the timeliness of payloads. They come with gloas, which the node does not support.",
    params: { slot: optional(slot, "Only those of this slot.") },
    rest: get("/eth/v1/beacon/pool/payload_attestations"),
    invoke: ({ operations }, { slot }) => operations.beacon.getPoolPayloadAttestations({ slot }),
  }),
  defineEntry({
    number: null,
    name: "post_v1_beacon_pool_payload_attestations",
    summary: "Takes votes on the timeliness of payloads. They come with gloas, which the node does not support.",
    params: { messages: required(messages, "The signed votes."), consensus_version: CONSENSUS_VERSION },
    rest: post("/eth/v1/beacon/pool/payload_attestations"),
    submission: true,
    invoke: ({ operations }, { messages }) =>
      operations.beacon.submitPayloadAttestationMessages({ payloadAttestationMessages: messages }),
  }),
];
