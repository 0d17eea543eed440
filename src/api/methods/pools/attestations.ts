import type { Type } from "@chainsafe/ssz";
import { type ForkName, isForkPostElectra } from "@lodestar/params";
import { type Attestation, isElectraAttestation, type SingleAttestation, type Slot } from "@lodestar/types";
import type { BeaconChain } from "../../../chain/chain.ts";
import type { ValidatedAttestation } from "../../../chain/validation/attestation.ts";
import { sszJson } from "../../../json/ssz-json.ts";
import type { MethodResponse } from "../../../server/method-table.ts";
import { withoutMeta } from "../../codecs.ts";
import type { ApiContext } from "../../context.ts";
import {
  defineEncoded,
  defineOperation,
  EMPTY_RESPONSE,
  each,
  get,
  optional,
  post,
  required,
} from "../../definition.ts";
import { encodeMeta } from "../../encoding.ts";
import { listBody } from "../../list-body.ts";
import { CONSENSUS_VERSION, requireAttestationVersion } from "../../params/consensus-version.ts";
import { attestation } from "../../params/operations.ts";
import { slot, uint64 } from "../../params/scalars.ts";
import { payloadList } from "../../params/ssz-payload.ts";
import { ACCEPTED, list, shape } from "../../schemas.ts";
import { submitAll } from "../../submissions.ts";

const ATTESTATIONS = { name: "attestations", schema: list(shape("Attestation")) };
const COMMITTEE_INDEX = optional(uint64, "Committee index of the attestations.");
const ATTESTATION_FORMS = "Attestations with a single aggregation bit; from electra on SingleAttestation objects.";

const getPoolAttestations = defineEncoded({
  name: "get_v1_beacon_pool_attestations",
  summary: "Attestations in the pool, each in the format of its fork.",
  params: { slot: optional(slot, "Slot of the attestations."), committeeIndex: COMMITTEE_INDEX },
  result: ATTESTATIONS,
  failures: [],
  rest: [get("/eth/v1/beacon/pool/attestations")],
  cost: "heavy",
  access: "read",
  example: { params: (chain) => [String(chain.slot), "0"] },
  codec: ({ beacon }) => withoutMeta(beacon.getPoolAttestationsV2.resp),
  // A list without a version can contain attestations from several forks.
  async json({ chain }, filter) {
    return { body: await attestationsBody(chain, chain.pools.attestations.iterate(filter)) };
  },
});

const getPoolAttestationsV2 = defineOperation("beacon.getPoolAttestationsV2", {
  name: "get_v2_beacon_pool_attestations",
  summary: "Attestations in the pool, all in the format of one fork.",
  params: {
    slot: optional(
      slot,
      "Slot of the attestations, which also selects the fork. Default: the fork of the current slot.",
    ),
    committeeIndex: COMMITTEE_INDEX,
  },
  result: ATTESTATIONS,
  failures: [],
  rest: [get("/eth/v2/beacon/pool/attestations")],
  cost: "heavy",
  access: "read",
  example: { params: (chain) => [String(chain.slot), "0"] },
  async json({ chain }, filter, codec) {
    const { attestations, version } = attestationsOfOneFormat(chain, filter);
    return { body: await attestationsBody(chain, attestations), ...encodeMeta(codec.meta, { version }) };
  },
});

const submitPoolAttestations = defineEncoded({
  number: 15,
  name: "post_v1_beacon_pool_attestations",
  summary: "Submits unaggregated attestations. Each is validated on its own.",
  params: { attestations: each(attestation, ATTESTATION_FORMS) },
  result: ACCEPTED,
  failures: ["rejected"],
  rest: [post("/eth/v1/beacon/pool/attestations")],
  cost: "cheap",
  access: "submit",
  example: { stage: "attest", params: (chain) => chain.attestations() },
  codec: () => EMPTY_RESPONSE,
  handler: (context, { attestations }) => submitAttestations(context, attestations),
});

const submitPoolAttestationsV2 = defineOperation("beacon.submitPoolAttestationsV2", {
  name: "post_v2_beacon_pool_attestations",
  summary: "Submits unaggregated attestations. Each is validated on its own.",
  params: {
    signedAttestations: required(payloadList("attestations", attestation), ATTESTATION_FORMS, {
      name: "attestations",
    }),
    consensusVersion: CONSENSUS_VERSION,
  },
  result: ACCEPTED,
  failures: ["rejected"],
  rest: [post("/eth/v2/beacon/pool/attestations", { ssz: "body" })],
  cost: "cheap",
  access: "submit",
  example: { stage: "attest", params: async (chain) => [await chain.attestations(), chain.fork] },
  async handler(context, { signedAttestations, consensusVersion }) {
    const { config } = context.chain;
    for (const { data } of signedAttestations) {
      requireAttestationVersion(consensusVersion, config.getForkName(data.slot));
    }
    await submitAttestations(context, signedAttestations);
  },
});

export const attestationPoolMethods = [
  getPoolAttestations,
  submitPoolAttestations,
  getPoolAttestationsV2,
  submitPoolAttestationsV2,
] as const;

function attestationsOfOneFormat(
  { config, clock, pools }: BeaconChain,
  { slot, committeeIndex }: { slot?: Slot; committeeIndex?: number },
): { attestations: Iterable<Attestation>; version: ForkName } {
  // An infinite slot would belong to a fork that is not scheduled.
  const version = config.getForkName(Math.min(slot ?? clock.currentSlot, Number.MAX_SAFE_INTEGER));
  return { attestations: ofFormat(version, pools.attestations.iterate({ slot, committeeIndex })), version };
}

/**
 * Filters attestations by format, because a list has only one version. Attestations in the other format are from before
 * a fork and can no longer be included.
 */
function* ofFormat(version: ForkName, attestations: Iterable<Attestation>): Generator<Attestation> {
  for (const attestation of attestations) {
    if (isElectraAttestation(attestation) === isForkPostElectra(version)) yield attestation;
  }
}

function attestationsBody(
  { config }: BeaconChain,
  attestations: Iterable<Attestation>,
): Promise<MethodResponse["body"]> {
  return listBody(attestations, (attestation) => {
    const type = config.getForkTypes(attestation.data.slot).Attestation as Type<Attestation>;
    return sszJson(type, type.serialize(attestation));
  });
}

function submitAttestations(
  { chain, broadcast }: ApiContext,
  attestations: readonly SingleAttestation[],
): Promise<void> {
  return submitAll<SingleAttestation, ValidatedAttestation>(
    attestations,
    (items) => chain.processor.attestations(items),
    (attestation, { subnet }) => broadcast.attestation(attestation, subnet),
  );
}
