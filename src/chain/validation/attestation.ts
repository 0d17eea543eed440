import { ATTESTATION_SUBNET_COUNT, type ForkName, ForkSeq, SLOTS_PER_EPOCH } from "@lodestar/params";
import { createIndexedSignatureSetFromComponents, type EpochShuffling } from "@lodestar/state-transition";
import {
  isElectraSingleAttestation,
  type phase0,
  type RootHex,
  type SingleAttestation,
  type Slot,
  type ValidatorIndex,
} from "@lodestar/types";
import { AttestationDataRules, committeeFor } from "./attestation-data.ts";
import { type Candidate, validateBatch } from "./batch.ts";
import type { ValidationContext } from "./context.ts";
import type { SignedDuty } from "./duplicate-keys.ts";
import { alreadyKnown, ignore, type Origin, type Outcome, reject } from "./outcome.ts";

/** A validated attestation by one validator. */
export interface ValidatedAttestation {
  data: phase0.AttestationData;
  dataRoot: RootHex;
  committeeIndex: number;
  committee: Uint32Array;
  /** Position in the committee. */
  position: number;
  validatorIndex: ValidatorIndex;
  signature: Uint8Array;
  fork: ForkName;
  subnet: number;
}

const SUBJECT = "The attestation";

/**
 * Validates attestations against the rules of the topics beacon_attestation_{subnet_id} (phase0, deneb and
 * electra/p2p-interface.md). Verifies all signatures as a batch. Outcomes are in input order; accepted attestations are
 * marked as seen.
 *
 * @param arrivedOn subnet of each attestation; omitted if the attestations did not come from the network
 */
export function validateAttestations(
  context: ValidationContext,
  attestations: readonly SingleAttestation[],
  arrivedOn?: readonly number[],
): Promise<Outcome<ValidatedAttestation>[]> {
  const dataRules = new AttestationDataRules(context, SUBJECT);
  return validateBatch(context, attestations, {
    examine: (attestation, index) => examine(context, dataRules, attestation, arrivedOn?.[index]),
    claim(validated) {
      reportConflict(context, validated, arrivedOn ? "gossip" : "client");
      refuseSecondAttestation(context, validated);
      context.seen.attesters.add(validated.data.target.epoch, validated.validatorIndex, validated.dataRoot);
      if (arrivedOn) context.duplicates.received(dutyOf(validated));
      return validated;
    },
  });
}

async function examine(
  context: ValidationContext,
  dataRules: AttestationDataRules,
  attestation: SingleAttestation,
  arrivedOn: number | undefined,
): Promise<Candidate<ValidatedAttestation>> {
  const { data, signature } = attestation;
  refuseWrongShape(context, attestation);
  refuseManyVotes(attestation);
  const { dataRoot, signingRoot, shuffling } = await dataRules.check(data);

  const committeeIndex = isElectraSingleAttestation(attestation) ? attestation.committeeIndex : data.index;
  const committee = committeeFor(shuffling, data, committeeIndex, SUBJECT);
  const subnet = subnetOf(shuffling, data.slot, committeeIndex);
  if (arrivedOn !== undefined && arrivedOn !== subnet) {
    throw reject("wrong-subnet", `${SUBJECT} arrived on subnet ${arrivedOn}, but belongs to subnet ${subnet}.`);
  }

  const position = positionInCommittee(attestation, committee);
  const validatorIndex = committee[position]!;
  const fork = context.config.getForkName(data.slot);
  const validated = { data, dataRoot, committeeIndex, committee, position, validatorIndex, signature, fork, subnet };
  // API clients get validation errors first. For validators of this node, the signature is checked to detect duplicate
  // keys.
  if (arrivedOn !== undefined && !(conflictingRoot(context, validated) && context.duplicates.watches(validatorIndex))) {
    refuseSecondAttestation(context, validated);
  }
  return {
    value: validated,
    signatures: [
      {
        set: createIndexedSignatureSetFromComponents(validatorIndex, signingRoot, signature),
        reason: "bad-signature",
        message: `${SUBJECT} of slot ${data.slot} is not signed by validator ${validatorIndex}.`,
      },
    ],
  };
}

/** phase0/validator.md, compute_subnet_for_attestation. */
function subnetOf({ committeesPerSlot }: EpochShuffling, slot: Slot, committeeIndex: number): number {
  const committeesBefore = committeesPerSlot * (slot % SLOTS_PER_EPOCH);
  return (committeesBefore + committeeIndex) % ATTESTATION_SUBNET_COUNT;
}

/** Electra replaced the single-bit Attestation with SingleAttestation (EIP-7549). */
function refuseWrongShape({ config }: ValidationContext, attestation: SingleAttestation): void {
  const { slot } = attestation.data;
  const isElectra = config.getForkSeq(slot) >= ForkSeq.electra;
  if (isElectraSingleAttestation(attestation) !== isElectra) {
    throw reject(
      "wrong-fork",
      `${SUBJECT} has the wrong type for slot ${slot} (${config.getForkName(slot)}): expected ` +
        `${isElectra ? "a SingleAttestation" : "an Attestation with one aggregation bit"}.`,
    );
  }
}

/** This check needs no committee, so it runs before the vote may have to wait for its block. */
function refuseManyVotes(attestation: SingleAttestation): void {
  if (isElectraSingleAttestation(attestation)) return;
  const { aggregationBits } = attestation;
  if (aggregationBits.getSingleTrueBit() !== null) return;
  throw reject(
    "not-one-vote",
    `${SUBJECT} has ${aggregationBits.getTrueBitIndexes().length} aggregation bits set, expected exactly one.`,
  );
}

function positionInCommittee(attestation: SingleAttestation, committee: Uint32Array): number {
  if (isElectraSingleAttestation(attestation)) {
    const position = committee.indexOf(attestation.attesterIndex);
    if (position < 0) {
      throw reject(
        "not-in-committee",
        `Validator ${attestation.attesterIndex} is not in committee ${attestation.committeeIndex} of slot ` +
          `${attestation.data.slot}.`,
      );
    }
    return position;
  }
  const { aggregationBits } = attestation;
  if (aggregationBits.bitLen !== committee.length) {
    throw reject(
      "wrong-bits-length",
      `${SUBJECT} has ${aggregationBits.bitLen} aggregation bits for a committee of ${committee.length} validators.`,
    );
  }
  return aggregationBits.getSingleTrueBit()!;
}

/**
 * Reports a signed vote that conflicts with an earlier one, if a client submitted the vote to this node or the
 * validator is connected to this node.
 */
function reportConflict(context: ValidationContext, validated: ValidatedAttestation, origin: Origin): void {
  const first = conflictingRoot(context, validated);
  if (first === undefined) return;
  if (origin === "client" || context.duplicates.watches(validated.validatorIndex)) {
    context.duplicates.conflict(dutyOf(validated), first);
  }
}

const dutyOf = ({ validatorIndex, data, dataRoot }: ValidatedAttestation): SignedDuty => ({
  validator: validatorIndex,
  kind: "attestation",
  slot: data.slot,
  root: dataRoot,
});

/** Returns the data root of an earlier, different vote by the same validator. */
function conflictingRoot(
  { seen }: ValidationContext,
  { data, dataRoot, validatorIndex }: Pick<ValidatedAttestation, "data" | "dataRoot" | "validatorIndex">,
): RootHex | undefined {
  const first = seen.attesters.dataRoot(data.target.epoch, validatorIndex);
  return first === dataRoot ? undefined : first;
}

function refuseSecondAttestation(
  { seen }: ValidationContext,
  { data, dataRoot, validatorIndex }: Pick<ValidatedAttestation, "data" | "dataRoot" | "validatorIndex">,
): void {
  const { epoch } = data.target;
  const seenRoot = seen.attesters.dataRoot(epoch, validatorIndex);
  if (seenRoot === undefined) return;
  if (seenRoot === dataRoot) {
    throw alreadyKnown(`The attestation of validator ${validatorIndex} for epoch ${epoch} is already known.`);
  }
  throw ignore(
    "conflicting-vote",
    `Validator ${validatorIndex} has already voted for epoch ${epoch}, with different data (${seenRoot}, now ` +
      `${dataRoot}).`,
  );
}
