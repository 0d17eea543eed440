import { ForkName, ForkSeq } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import {
  type Attestation,
  type CommitteeIndex,
  isElectraAttestation,
  type RootHex,
  type SignedAggregateAndProof,
  type Slot,
  ssz,
} from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconChain } from "../../../chain/chain.ts";
import { attestationDataOn, stateToAttestOn } from "../../../chain/production/attestation-data.ts";
import { invalidParams, notFound } from "../../../errors/failure.ts";
import { withoutMeta } from "../../codecs.ts";
import type { ApiContext } from "../../context.ts";
import {
  defineAlias,
  defineEncoded,
  defineOperation,
  EMPTY_RESPONSE,
  each,
  get,
  optional,
  post,
  required,
} from "../../definition.ts";
import { CONSENSUS_VERSION, requireAttestationVersion } from "../../params/consensus-version.ts";
import { signedAggregateAndProof } from "../../params/operations.ts";
import { parseFixedHex, root, slot, uint64 } from "../../params/scalars.ts";
import { InvalidPayloadError, payloadList, readSszJson } from "../../params/ssz-payload.ts";
import { requireSynced, requireVerifiedBlock, requireVerifiedHead } from "../../preconditions.ts";
import { isTrue, shape } from "../../schemas.ts";
import { submitAll } from "../../submissions.ts";

const produceAttestationData = defineOperation("validator.produceAttestationData", {
  number: 34,
  name: "get_v1_validator_attestation_data",
  summary: "What a committee's members should sign at a slot.",
  params: {
    slot: required(slot, "The slot of the attestation, at most the one after the current."),
    committeeIndex: optional(uint64, "The committee at the slot; may be left out from electra on."),
  },
  result: { name: "attestation_data", schema: shape("AttestationData") },
  failures: ["not-found", "unavailable"],
  rest: [get("/eth/v1/validator/attestation_data", { ssz: "answer" })],
  cost: "duty",
  access: "read",
  example: { stage: "attest", params: (chain) => [String(chain.slot), "0"] },
  async handler({ chain }, { slot, committeeIndex }) {
    requireSynced(chain);
    await requireVerifiedHead(chain);
    const { clock, blocks, config } = chain;
    if (slot > clock.currentSlot + 1) {
      throw invalidParams(`Slot ${slot} is too far ahead: the current slot is ${clock.currentSlot}.`);
    }
    const blockRoot = await blocks.rootAtOrBefore(slot);
    if (blockRoot === null) throw notFound(`The chain at slot ${slot} is not in this node's history.`);
    const state = await stateToAttestOn(chain.states, { slot, blockRoot });
    const committees = state.epochCtx.getCommitteeCountPerSlot(computeEpochAtSlot(slot));
    if (committeeIndex !== undefined && committeeIndex >= committees) {
      throw invalidParams(
        `Slot ${slot} has ${committees} committees, so the committee index ${committeeIndex} is too high.`,
      );
    }
    const isPostElectra = config.getForkSeq(slot) >= ForkSeq.electra;
    if (committeeIndex === undefined && !isPostElectra) {
      throw invalidParams("The committee index is required for slots before the electra fork.");
    }
    const namedIndex = isPostElectra ? 0 : (committeeIndex ?? 0);
    return { data: attestationDataOn(state, { slot, blockRoot, committeeIndex: namedIndex }) };
  },
});

const attestationDataByOtherName = defineAlias(produceAttestationData, {
  number: 35,
  name: "get_v1_validator_attestation",
  summary: "Another name of get_v1_validator_attestation_data.",
});

const AGGREGATE_PARAMS = {
  slot: required(slot, "The slot of the attestation data."),
  attestationDataRoot: required(root, "The hash tree root of the attestation data."),
};
const AGGREGATE = { name: "attestation", schema: shape("Attestation") };

const getAggregatedAttestation = defineEncoded({
  number: 36,
  name: "get_v1_validator_aggregate_attestation",
  summary: "The attestation with the most attesters for some attestation data.",
  params: {
    ...AGGREGATE_PARAMS,
    committeeIndex: optional(
      uint64,
      "The committee at the slot. From electra on the data does not name it, so that it has to be given where the slot has several.",
      { only: "json-rpc" },
    ),
  },
  result: AGGREGATE,
  failures: ["not-found", "unavailable"],
  rest: [
    get("/eth/v1/validator/aggregate_attestation", {
      until: { fork: ForkName.electra, successor: "GET /eth/v2/validator/aggregate_attestation" },
    }),
  ],
  cost: "cheap",
  access: "read",
  example: {
    stage: "aggregate",
    params: async (chain) => [String(chain.slot), await chain.attestationDataRoot()],
  },
  codec: ({ validator }) => withoutMeta(validator.getAggregatedAttestationV2.resp),
  handler: ({ chain }, wanted) => bestAggregate(chain, wanted),
});

const aggregateByOtherName = defineAlias(getAggregatedAttestation, {
  number: 37,
  name: "get_v1_validator_aggregate_and_proof",
  summary:
    "As get_v1_validator_aggregate_attestation; also takes one AttestationData in place of slot and root. It has no proof in it.",
  normalizePositional: arrangeAttestationData,
});

const getAggregatedAttestationV2 = defineOperation("validator.getAggregatedAttestationV2", {
  name: "get_v2_validator_aggregate_attestation",
  summary: "The attestation of a committee with the most attesters for some attestation data.",
  params: { ...AGGREGATE_PARAMS, committeeIndex: required(uint64, "The committee at the slot.") },
  normalizePositional: arrangeRootAfterSlot,
  result: AGGREGATE,
  failures: ["not-found", "unavailable"],
  rest: [get("/eth/v2/validator/aggregate_attestation", { ssz: "answer" })],
  cost: "cheap",
  access: "read",
  example: {
    stage: "aggregate",
    params: async (chain) => [String(chain.slot), await chain.attestationDataRoot(), "0"],
  },
  handler: ({ chain }, wanted) => bestAggregate(chain, wanted),
});

const ACCEPTED = { name: "accepted", schema: isTrue };

const publishAggregateAndProofs = defineEncoded({
  number: 38,
  name: "post_v1_validator_aggregate_and_proofs",
  summary: "Submits aggregates, each signed by its aggregator.",
  params: { signedAggregates: each(signedAggregateAndProof, "Aggregates in the form of their slot's fork.") },
  result: ACCEPTED,
  failures: ["rejected"],
  rest: [post("/eth/v1/validator/aggregate_and_proofs")],
  cost: "cheap",
  access: "submit",
  example: { stage: "aggregate", params: async (chain) => [await chain.signedAggregate()] },
  codec: () => EMPTY_RESPONSE,
  handler: (context, { signedAggregates }) => submitAggregates(context, signedAggregates),
});

const aggregateAndProofByOtherName = defineAlias(publishAggregateAndProofs, {
  number: 39,
  name: "post_v1_validator_aggregate_and_proof",
  summary: "Another name of post_v1_validator_aggregate_and_proofs.",
});

const publishAggregateAndProofsV2 = defineOperation("validator.publishAggregateAndProofsV2", {
  name: "post_v2_validator_aggregate_and_proofs",
  summary: "Submits aggregates, each signed by its aggregator.",
  params: {
    signedAggregateAndProofs: required(
      payloadList("signed aggregates with their proofs", signedAggregateAndProof),
      "Aggregates in the form of their slot's fork.",
      { name: "signed_aggregates" },
    ),
    consensusVersion: CONSENSUS_VERSION,
  },
  result: ACCEPTED,
  failures: ["rejected"],
  rest: [post("/eth/v2/validator/aggregate_and_proofs", { ssz: "body" })],
  cost: "cheap",
  access: "submit",
  example: { stage: "aggregate", params: async (chain) => [[await chain.signedAggregate()], chain.fork] },
  async handler(context, { signedAggregateAndProofs, consensusVersion }) {
    const { config } = context.chain;
    for (const { message } of signedAggregateAndProofs) {
      requireAttestationVersion(consensusVersion, config.getForkName(message.aggregate.data.slot));
    }
    await submitAggregates(context, signedAggregateAndProofs);
  },
});

export const attestationProductionMethods = [
  produceAttestationData,
  attestationDataByOtherName,
  getAggregatedAttestation,
  aggregateByOtherName,
  getAggregatedAttestationV2,
  publishAggregateAndProofs,
  aggregateAndProofByOtherName,
  publishAggregateAndProofsV2,
] as const;

interface WantedAggregate {
  slot: Slot;
  attestationDataRoot: RootHex;
  /** By default the one that the data names or, from electra on, the only one of the slot. */
  committeeIndex?: CommitteeIndex;
}

async function bestAggregate(chain: BeaconChain, { slot, attestationDataRoot, committeeIndex }: WantedAggregate) {
  requireSynced(chain);
  const data = chain.pools.attestations.getAggregate(slot, attestationDataRoot, committeeIndex);
  if (!data) {
    const ofCommittee = committeeIndex === undefined ? "" : ` and committee ${committeeIndex}`;
    throw notFound(`No attestation of slot ${slot}${ofCommittee} with data ${attestationDataRoot} is known.`);
  }
  await requireVerifiedHead(chain);
  requireVerifiedBlock(chain, toRootHex(data.data.beaconBlockRoot));
  if (committeeIndex === undefined) await requireNamedCommittee(chain, data);
  return { data, meta: { version: chain.config.getForkName(slot) } };
}

/** Refuses an attestation that may be of another committee than the one that was meant. */
async function requireNamedCommittee(chain: BeaconChain, attestation: Attestation): Promise<void> {
  if (!isElectraAttestation(attestation)) return;
  const { slot, beaconBlockRoot, target } = attestation.data;
  const state = await stateToAttestOn(chain.states, { slot, blockRoot: toRootHex(beaconBlockRoot) });
  const committees = state.epochCtx.getCommitteeCountPerSlot(target.epoch);
  if (committees === 1) return;
  throw invalidParams(
    `The parameter "committee_index" is missing: slot ${slot} has ${committees} committees, and since electra attestation ` +
      "data does not name its own.",
  );
}

function submitAggregates({ chain, broadcast }: ApiContext, aggregates: SignedAggregateAndProof[]): Promise<void> {
  return submitAll(
    aggregates,
    (given) => chain.processor.aggregates(given),
    (aggregate) => broadcast.aggregate(aggregate),
  );
}

/** One AttestationData in place of the slot and the root that follow from it, and perhaps the committee index after it. */
function arrangeAttestationData(params: unknown[]): unknown[] {
  const [first, ...rest] = params;
  if (rest.length > 1 || typeof first !== "object" || first === null || Array.isArray(first)) return params;
  try {
    const data = readSszJson(ssz.phase0.AttestationData, first);
    return [data.slot, toRootHex(ssz.phase0.AttestationData.hashTreeRoot(data)), ...rest];
  } catch (error) {
    if (!(error instanceof InvalidPayloadError)) throw error;
    throw invalidParams(`The attestation data ${error.message}`);
  }
}

/** REST lists the root before the slot; a root is never a slot, so both orders are understood. */
function arrangeRootAfterSlot(params: unknown[]): unknown[] {
  const [first, second, ...rest] = params;
  const isSwapped = parseFixedHex(first, 32) !== undefined && parseFixedHex(second, 32) === undefined;
  return isSwapped ? [second, first, ...rest] : params;
}
