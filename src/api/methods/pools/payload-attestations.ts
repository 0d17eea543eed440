import { ForkName } from "@lodestar/params";
import { defineOperation, get, optional } from "../../definition.ts";
import { slot } from "../../params/scalars.ts";
import { requireForkAt } from "../../preconditions.ts";
import { list, shape } from "../../schemas.ts";

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

export const payloadAttestationPoolMethods = [getPoolPayloadAttestations] as const;
