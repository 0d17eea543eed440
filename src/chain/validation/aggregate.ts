import type { BitArray } from "@chainsafe/ssz";
import { DOMAIN_AGGREGATE_AND_PROOF, DOMAIN_SELECTION_PROOF, type ForkName, ForkSeq } from "@lodestar/params";
import {
  computeSigningRoot,
  createAggregateSignatureSetFromComponents,
  createIndexedSignatureSetFromComponents,
  isAggregatorFromCommitteeLength,
} from "@lodestar/state-transition";
import {
  type Attestation,
  isElectraAttestation,
  type phase0,
  type RootHex,
  type SignedAggregateAndProof,
  ssz,
  sszTypesFor,
  type ValidatorIndex,
} from "@lodestar/types";
import { AttestationDataRules, committeeFor } from "./attestation-data.ts";
import { type Candidate, type SignatureClaim, validateBatch } from "./batch.ts";
import type { ValidationContext } from "./context.ts";
import type { SignedDuty } from "./duplicate-keys.ts";
import { alreadyKnown, type Origin, type Outcome, reject } from "./outcome.ts";

/** A validated aggregate from one committee. */
export interface ValidatedAggregate {
  data: phase0.AttestationData;
  dataRoot: RootHex;
  committeeIndex: number;
  committee: Uint32Array;
  /** Participating committee members. */
  bits: BitArray;
  attestingIndices: ValidatorIndex[];
  signature: Uint8Array;
  aggregatorIndex: ValidatorIndex;
  fork: ForkName;
}

const SUBJECT = "The aggregate";

/**
 * Validates aggregates against the rules of the topic beacon_aggregate_and_proof (phase0, deneb and
 * electra/p2p-interface.md). Verifies the three signatures of each aggregate, all in one batch. Outcomes are in input
 * order; accepted aggregates are marked as seen.
 */
export function validateAggregates(
  context: ValidationContext,
  signedAggregates: readonly SignedAggregateAndProof[],
  origin: Origin = "client",
): Promise<Outcome<ValidatedAggregate>[]> {
  const dataRules = new AttestationDataRules(context, SUBJECT);
  return validateBatch(context, signedAggregates, {
    examine: (signedAggregate) => examine(context, dataRules, signedAggregate),
    claim(aggregate) {
      refuseSeen(context, aggregate);
      const { data, dataRoot, committeeIndex, bits, aggregatorIndex } = aggregate;
      context.seen.aggregators.add(data.target.epoch, aggregatorIndex);
      context.seen.aggregates.add(data.target.epoch, dataRoot, committeeIndex, bits);
      if (origin === "gossip" && context.duplicates.isWatching) reportDuplicates(context, aggregate);
      return aggregate;
    },
  });
}

async function examine(
  context: ValidationContext,
  dataRules: AttestationDataRules,
  signedAggregate: SignedAggregateAndProof,
): Promise<Candidate<ValidatedAggregate>> {
  const { aggregate: attestation, aggregatorIndex, selectionProof } = signedAggregate.message;
  const { data, aggregationBits: bits, signature } = attestation;
  const committeeIndex = committeeIndexOf(context, attestation);
  // This check needs no committee, so it runs before the aggregate may have to wait for its block.
  if (bits.getTrueBitIndexes().length === 0) {
    throw reject("no-participants", `${SUBJECT} of committee ${committeeIndex} at slot ${data.slot} has no votes.`);
  }
  const { dataRoot, signingRoot, shuffling } = await dataRules.check(data);
  const committee = committeeFor(shuffling, data, committeeIndex, SUBJECT);
  if (bits.bitLen !== committee.length) {
    throw reject(
      "wrong-bits-length",
      `${SUBJECT} has ${bits.bitLen} aggregation bits for a committee of ${committee.length} validators.`,
    );
  }
  const attestingIndices = bits.intersectValues(Array.from(committee));

  const fork = context.config.getForkName(data.slot);
  const value: ValidatedAggregate = {
    data,
    dataRoot,
    committeeIndex,
    committee,
    bits,
    attestingIndices,
    signature,
    aggregatorIndex,
    fork,
  };
  refuseSeen(context, value);
  refuseUnselected(value, selectionProof);
  return {
    value,
    signatures: [
      ...aggregatorSignatures(context, signedAggregate, fork),
      {
        set: createAggregateSignatureSetFromComponents(attestingIndices, signingRoot, signature),
        reason: "bad-signature",
        message: `${SUBJECT} of slot ${data.slot} is not signed by its ${attestingIndices.length} attesters.`,
      },
    ],
  };
}

/** Reports votes by this node's validators that are new or conflict with votes already seen. */
function reportDuplicates({ seen, duplicates }: ValidationContext, aggregate: ValidatedAggregate): void {
  const { data, dataRoot, attestingIndices } = aggregate;
  for (const validator of attestingIndices) {
    if (!duplicates.watches(validator)) continue;
    const duty: SignedDuty = { validator, kind: "attestation", slot: data.slot, root: dataRoot };
    const first = seen.attesters.dataRoot(data.target.epoch, validator);
    if (first === undefined) duplicates.received(duty);
    else if (first !== dataRoot) duplicates.conflict(duty, first);
  }
}

/** Since Electra, committee bits replace the index in the data (EIP-7549). */
function committeeIndexOf({ config }: ValidationContext, attestation: Attestation): number {
  const { slot, index } = attestation.data;
  const isElectra = config.getForkSeq(slot) >= ForkSeq.electra;
  if (isElectraAttestation(attestation) !== isElectra) {
    throw reject(
      "wrong-fork",
      `${SUBJECT} has the wrong type for slot ${slot} (${config.getForkName(slot)}): expected an Attestation ` +
        `${isElectra ? "with" : "without"} committee bits.`,
    );
  }
  if (!isElectraAttestation(attestation)) return index;
  const committeeIndex = attestation.committeeBits.getSingleTrueBit();
  if (committeeIndex === null) {
    throw reject(
      "not-one-committee",
      `${SUBJECT} has ${attestation.committeeBits.getTrueBitIndexes().length} committee bits set, expected ` +
        "exactly one.",
    );
  }
  return committeeIndex;
}

/**
 * Rejects aggregates that add no attesters. Treats a second aggregate by the same aggregator as known even if it
 * contains different attestations, because a validator client with several nodes submits the same duty to each node.
 */
function refuseSeen({ seen }: ValidationContext, aggregate: ValidatedAggregate): void {
  const { data, dataRoot, committeeIndex, bits, aggregatorIndex } = aggregate;
  if (seen.aggregates.hasSuperset(data.target.epoch, dataRoot, committeeIndex, bits)) {
    throw alreadyKnown(
      `An aggregate of committee ${committeeIndex} at slot ${data.slot} with all these votes is already known.`,
    );
  }
  if (seen.aggregators.has(data.target.epoch, aggregatorIndex)) {
    throw alreadyKnown(
      `An aggregate of aggregator ${aggregatorIndex} for epoch ${data.target.epoch} is already known.`,
    );
  }
}

function refuseUnselected(
  { data, committeeIndex, committee, aggregatorIndex }: ValidatedAggregate,
  selectionProof: Uint8Array,
): void {
  if (!committee.includes(aggregatorIndex)) {
    throw reject(
      "not-in-committee",
      `The aggregator ${aggregatorIndex} is not in committee ${committeeIndex} of slot ${data.slot}.`,
    );
  }
  if (!isAggregatorFromCommitteeLength(committee.length, selectionProof)) {
    throw reject(
      "not-selected-as-aggregator",
      `The selection proof of validator ${aggregatorIndex} does not make it an aggregator at slot ${data.slot}.`,
    );
  }
}

function aggregatorSignatures(
  { config }: ValidationContext,
  { message, signature }: SignedAggregateAndProof,
  fork: ForkName,
): SignatureClaim[] {
  const { aggregatorIndex, selectionProof } = message;
  const { slot } = message.aggregate.data;
  const proofRoot = computeSigningRoot(ssz.Slot, slot, config.getDomain(slot, DOMAIN_SELECTION_PROOF, slot));
  const messageRoot = computeSigningRoot(
    sszTypesFor(fork).AggregateAndProof,
    message,
    config.getDomain(slot, DOMAIN_AGGREGATE_AND_PROOF, slot),
  );
  return [
    {
      set: createIndexedSignatureSetFromComponents(aggregatorIndex, proofRoot, selectionProof),
      reason: "bad-selection-proof",
      message: `The selection proof for slot ${slot} is not signed by validator ${aggregatorIndex}.`,
    },
    {
      set: createIndexedSignatureSetFromComponents(aggregatorIndex, messageRoot, signature),
      reason: "bad-aggregator-signature",
      message: `${SUBJECT} with its proof is not signed by its aggregator, validator ${aggregatorIndex}.`,
    },
  ];
}
