import { ForkName } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { defineOperation, get, optional, post, required } from "../../definition.ts";
import { CONSENSUS_VERSION, requireVersion } from "../../params/consensus-version.ts";
import { slot } from "../../params/scalars.ts";
import { payloadList, plainSszPayload } from "../../params/ssz-payload.ts";
import { refuseBeforeGloas, requireForkAt } from "../../preconditions.ts";
import { ACCEPTED, list, shape } from "../../schemas.ts";
import { submitAll } from "../../submissions.ts";

const PAYLOAD_ATTESTATIONS = "Payload attestations";

const getPoolPayloadAttestations = defineOperation("beacon.getPoolPayloadAttestations", {
  name: "get_v1_beacon_pool_payload_attestations",
  summary: "Payload attestations in the pool: the best aggregate of each slot, block and vote.",
  params: { slot: optional(slot, "Slot of the attestations.") },
  result: { name: "payload_attestations", schema: list(shape("PayloadAttestation")) },
  failures: [],
  rest: [get("/eth/v1/beacon/pool/payload_attestations", { ssz: "response" })],
  cost: "cheap",
  access: "read",
  since: ForkName.gloas,
  example: { params: (chain) => [String(chain.slot - 1)] },
  async handler({ chain }, { slot }) {
    const { config, clock, pools } = chain;
    // An infinite slot would belong to a fork that is not scheduled.
    const ofSlot = Math.min(slot ?? clock.currentSlot, Number.MAX_SAFE_INTEGER);
    requireForkAt(config, ForkName.gloas, ofSlot, PAYLOAD_ATTESTATIONS);
    return { data: pools.payloadAttestations.list(slot), meta: { version: config.getForkName(ofSlot) } };
  },
});

const submitPayloadAttestations = defineOperation("beacon.submitPayloadAttestationMessages", {
  name: "post_v1_beacon_pool_payload_attestations",
  summary: "Submits votes of members of the current slot's payload timeliness committee. Each is validated on its own.",
  params: {
    payloadAttestationMessages: required(
      payloadList(
        "payload attestation messages",
        plainSszPayload(
          "a payload attestation message",
          ssz.gloas.PayloadAttestationMessage,
          shape("PayloadAttestationMessage"),
        ),
      ),
      "Votes, each signed by its validator.",
      { name: "messages" },
    ),
    consensusVersion: CONSENSUS_VERSION,
  },
  result: ACCEPTED,
  failures: ["rejected"],
  rest: [post("/eth/v1/beacon/pool/payload_attestations", { ssz: "body" })],
  cost: "cheap",
  access: "submit",
  since: ForkName.gloas,
  example: { stage: "attest", params: async (chain) => [await chain.payloadAttestations(), ForkName.gloas] },
  async handler({ chain, broadcast }, { payloadAttestationMessages, consensusVersion }) {
    const { config } = chain;
    for (const { data } of payloadAttestationMessages) {
      refuseBeforeGloas(config, data.slot, PAYLOAD_ATTESTATIONS);
      requireVersion(consensusVersion, config.getForkName(data.slot));
    }
    await submitAll(
      payloadAttestationMessages,
      (messages) => chain.processor.payloadAttestations(messages),
      (message) => broadcast.payloadAttestation(message),
    );
  },
});

export const payloadAttestationPoolMethods = [getPoolPayloadAttestations, submitPayloadAttestations] as const;
