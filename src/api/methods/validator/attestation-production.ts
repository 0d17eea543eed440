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
import { attestationDataOn, attestationIndex, stateToAttestOn } from "../../../chain/production/attestation-data.ts";
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
import { ACCEPTED, shape } from "../../schemas.ts";
import { submitAll } from "../../submissions.ts";

const produceAttestationData = defineOperation("validator.produceAttestationData", {
  number: 34,
  name: "get_v1_validator_attestation_data",
  summary: "Attestation data for the members of a committee to sign.",
  params: {
    slot: required(slot, "Slot of the attestation, at most one after the current slot."),
    committeeIndex: optional(uint64, "Committee index. Optional from electra on."),
  },
  result: { name: "attestation_data", schema: shape("AttestationData") },
  failures: ["not-found", "unavailable"],
  rest: [get("/eth/v1/validator/attestation_data", { ssz: "response" })],
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
    if (blockRoot === null) throw notFound(`The node has no block at or before slot ${slot}.`);
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
    const index = attestationIndex(chain, { slot, blockRoot, committeeIndex: committeeIndex ?? 0 });
    return { data: attestationDataOn(state, { slot, blockRoot, index }) };
  },
});

const attestationDataAlias = defineAlias(produceAttestationData, {
  number: 35,
  name: "get_v1_validator_attestation",
  summary: "Alias of get_v1_validator_attestation_data.",
});

const AGGREGATE_PARAMS = {
  slot: required(slot, "Slot of the attestation data."),
  attestationDataRoot: required(root, "Hash tree root of the attestation data."),
};
const AGGREGATE = { name: "attestation", schema: shape("Attestation") };

const getAggregatedAttestation = defineEncoded({
  number: 36,
  name: "get_v1_validator_aggregate_attestation",
  summary: "The best aggregate for some attestation data.",
  params: {
    ...AGGREGATE_PARAMS,
    committeeIndex: optional(uint64, "Committee index. Required from electra on if the slot has several committees.", {
      only: "json-rpc",
    }),
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
  handler: ({ chain }, query) => bestAggregate(chain, query),
});

const aggregateAlias = defineAlias(getAggregatedAttestation, {
  number: 37,
  name: "get_v1_validator_aggregate_and_proof",
  summary:
    "Like get_v1_validator_aggregate_attestation; also accepts an AttestationData instead of slot and root. The result has no proof.",
  normalizePositional: attestationDataToSlotAndRoot,
});

const getAggregatedAttestationV2 = defineOperation("validator.getAggregatedAttestationV2", {
  name: "get_v2_validator_aggregate_attestation",
  summary: "The best aggregate of a committee for some attestation data.",
  params: { ...AGGREGATE_PARAMS, committeeIndex: required(uint64, "Committee index.") },
  normalizePositional: slotBeforeRoot,
  result: AGGREGATE,
  failures: ["not-found", "unavailable"],
  rest: [get("/eth/v2/validator/aggregate_attestation", { ssz: "response" })],
  cost: "cheap",
  access: "read",
  example: {
    stage: "aggregate",
    params: async (chain) => [String(chain.slot), await chain.attestationDataRoot(), "0"],
  },
  handler: ({ chain }, query) => bestAggregate(chain, query),
});

const publishAggregateAndProofs = defineEncoded({
  number: 38,
  name: "post_v1_validator_aggregate_and_proofs",
  summary: "Submits aggregates, each signed by its aggregator.",
  params: { signedAggregates: each(signedAggregateAndProof, "Signed aggregates in the format of their slot's fork.") },
  result: ACCEPTED,
  failures: ["rejected"],
  rest: [post("/eth/v1/validator/aggregate_and_proofs")],
  cost: "cheap",
  access: "submit",
  example: { stage: "aggregate", params: async (chain) => [await chain.signedAggregate()] },
  codec: () => EMPTY_RESPONSE,
  handler: (context, { signedAggregates }) => submitAggregates(context, signedAggregates),
});

const aggregateAndProofAlias = defineAlias(publishAggregateAndProofs, {
  number: 39,
  name: "post_v1_validator_aggregate_and_proof",
  summary: "Alias of post_v1_validator_aggregate_and_proofs.",
});

const publishAggregateAndProofsV2 = defineOperation("validator.publishAggregateAndProofsV2", {
  name: "post_v2_validator_aggregate_and_proofs",
  summary: "Submits aggregates, each signed by its aggregator.",
  params: {
    signedAggregateAndProofs: required(
      payloadList("signed aggregates and proofs", signedAggregateAndProof),
      "Signed aggregates in the format of their slot's fork.",
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
  attestationDataAlias,
  getAggregatedAttestation,
  aggregateAlias,
  getAggregatedAttestationV2,
  publishAggregateAndProofs,
  aggregateAndProofAlias,
  publishAggregateAndProofsV2,
] as const;

interface AggregateQuery {
  slot: Slot;
  attestationDataRoot: RootHex;
  /** Defaults to the index in the data or, from electra on, to the slot's committee if there is only one. */
  committeeIndex?: CommitteeIndex;
}

async function bestAggregate(chain: BeaconChain, { slot, attestationDataRoot, committeeIndex }: AggregateQuery) {
  requireSynced(chain);
  const data = chain.pools.attestations.getAggregate(slot, attestationDataRoot, committeeIndex);
  if (!data) {
    const ofCommittee = committeeIndex === undefined ? "" : ` and committee ${committeeIndex}`;
    throw notFound(`No attestation of slot ${slot}${ofCommittee} with data ${attestationDataRoot}.`);
  }
  await requireVerifiedHead(chain);
  const { beaconBlockRoot, index } = data.data;
  requireVerifiedBlock(chain, toRootHex(beaconBlockRoot), { isFull: index === 1 });
  if (committeeIndex === undefined) await requireNamedCommittee(chain, data);
  return { data, meta: { version: chain.config.getForkName(slot) } };
}

/** Throws if the committee is ambiguous, because from electra on attestation data contains no committee index. */
async function requireNamedCommittee(chain: BeaconChain, attestation: Attestation): Promise<void> {
  if (!isElectraAttestation(attestation)) return;
  const { slot, beaconBlockRoot, target } = attestation.data;
  const state = await stateToAttestOn(chain.states, { slot, blockRoot: toRootHex(beaconBlockRoot) });
  const committees = state.epochCtx.getCommitteeCountPerSlot(target.epoch);
  if (committees === 1) return;
  throw invalidParams(
    `The parameter "committee_index" is missing: slot ${slot} has ${committees} committees, and attestation data has no ` +
      "committee index from electra on.",
  );
}

function submitAggregates({ chain, broadcast }: ApiContext, aggregates: SignedAggregateAndProof[]): Promise<void> {
  return submitAll(
    aggregates,
    (items) => chain.processor.aggregates(items),
    (aggregate) => broadcast.aggregate(aggregate),
  );
}

/** Replaces a leading AttestationData with its slot and root. A committee index may follow. */
function attestationDataToSlotAndRoot(params: unknown[]): unknown[] {
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

/** Accepts slot and root in either order, because the Beacon API has the root first. */
function slotBeforeRoot(params: unknown[]): unknown[] {
  const [first, second, ...rest] = params;
  const isSwapped = parseFixedHex(first, 32) !== undefined && parseFixedHex(second, 32) === undefined;
  return isSwapped ? [second, first, ...rest] : params;
}
