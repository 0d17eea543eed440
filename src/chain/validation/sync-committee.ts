import {
  DOMAIN_CONTRIBUTION_AND_PROOF,
  DOMAIN_SYNC_COMMITTEE,
  DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF,
  SYNC_COMMITTEE_SUBNET_COUNT,
} from "@lodestar/params";
import {
  computeSigningRoot,
  createAggregateSignatureSetFromComponents,
  createIndexedSignatureSetFromComponents,
  isSyncCommitteeAggregator,
} from "@lodestar/state-transition";
import { type altair, type RootHex, ssz, type ValidatorIndex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { type Candidate, type SignatureClaim, validateBatch } from "./batch.ts";
import type { ValidationContext } from "./context.ts";
import { alreadyKnown, ignore, type Outcome, reject } from "./outcome.ts";
import {
  ofNextPeriod,
  positionsOf,
  type SubcommitteePositions,
  SyncCommittees,
  subcommitteeMembers,
} from "./sync-committee-at.ts";
import { refuseUnlessCurrentSlot } from "./time-window.ts";

/** A validated sync committee message. */
export interface ValidatedSyncMessage {
  message: altair.SyncCommitteeMessage;
  blockRoot: RootHex;
  /** Subcommittees for which no message from the validator has been seen yet. */
  subcommittees: SubcommitteePositions[];
}

/** A validated sync committee contribution. */
export interface ValidatedContribution {
  contribution: altair.SyncCommitteeContribution;
  aggregatorIndex: ValidatorIndex;
  blockRoot: RootHex;
  participants: ValidatorIndex[];
}

/**
 * Validates messages against the rules of the topics sync_committee_{subnet_id} (altair/p2p-interface.md). Verifies all
 * signatures as a batch. Outcomes are in input order; accepted messages are marked as seen.
 *
 * @param arrivedOn subnet of each message; omitted if the messages did not come from the network, in which case each
 * message applies to all subcommittees of its validator
 */
export function validateSyncMessages(
  context: ValidationContext,
  messages: readonly altair.SyncCommitteeMessage[],
  arrivedOn?: readonly number[],
): Promise<Outcome<ValidatedSyncMessage>[]> {
  const committees = new SyncCommittees(context);
  return validateBatch(context, messages, {
    examine: (message, index) => examineMessage(context, committees, message, arrivedOn?.[index]),
    claim(value) {
      const { slot, validatorIndex } = value.message;
      const subcommittees = unseenSubcommittees(context, value);
      for (const { subcommitteeIndex } of subcommittees) {
        context.seen.syncMessages.add(slot, subcommitteeIndex, validatorIndex, value.blockRoot);
      }
      return { ...value, subcommittees };
    },
  });
}

async function examineMessage(
  context: ValidationContext,
  committees: SyncCommittees,
  message: altair.SyncCommitteeMessage,
  arrivedOn: number | undefined,
): Promise<Candidate<ValidatedSyncMessage>> {
  const { slot, validatorIndex, beaconBlockRoot, signature } = message;
  refuseUnlessCurrentSlot(context, slot, "The sync committee message");
  const positions = positionsOf(await committees.at(slot), validatorIndex);
  if (positions.length === 0) {
    throw reject(
      "not-in-committee",
      `Validator ${validatorIndex} is not in the sync committee of slot ${slot}.${ofNextPeriod(slot)}`,
    );
  }
  const addressed = positions.filter(
    ({ subcommitteeIndex }) => arrivedOn === undefined || subcommitteeIndex === arrivedOn,
  );
  if (addressed.length === 0) {
    throw reject(
      "wrong-subnet",
      `The sync committee message of validator ${validatorIndex} arrived on subnet ${arrivedOn}, which is not ` +
        "one of the validator's.",
    );
  }
  const value = { message, blockRoot: toRootHex(beaconBlockRoot), subcommittees: addressed };
  return {
    // API clients get validation errors first.
    value: arrivedOn === undefined ? value : { ...value, subcommittees: unseenSubcommittees(context, value) },
    signatures: [
      {
        set: createIndexedSignatureSetFromComponents(validatorIndex, blockSigningRoot(context, message), signature),
        reason: "bad-signature",
        message: `The sync committee message of slot ${slot} is not signed by validator ${validatorIndex}.`,
      },
    ],
  };
}

function unseenSubcommittees(
  { seen }: ValidationContext,
  { message, blockRoot, subcommittees }: ValidatedSyncMessage,
): SubcommitteePositions[] {
  const { slot, validatorIndex } = message;
  const seenRoots = subcommittees.map(({ subcommitteeIndex }) =>
    seen.syncMessages.root(slot, subcommitteeIndex, validatorIndex),
  );
  const unseen = subcommittees.filter((_, index) => seenRoots[index] === undefined);
  if (unseen.length > 0) return unseen;
  if (seenRoots.includes(blockRoot)) {
    throw alreadyKnown(`The sync committee message of validator ${validatorIndex} for slot ${slot} is already known.`);
  }
  throw ignore(
    "conflicting-vote",
    `Validator ${validatorIndex} has already signed another block for slot ${slot} (${seenRoots[0]}, now ` +
      `${blockRoot}).`,
  );
}

/**
 * Validates contributions against the rules of the topic sync_committee_contribution_and_proof
 * (altair/p2p-interface.md). Verifies the three signatures of each contribution, all in one batch. Outcomes are in
 * input order; accepted contributions are marked as seen.
 */
export function validateContributions(
  context: ValidationContext,
  signedContributions: readonly altair.SignedContributionAndProof[],
): Promise<Outcome<ValidatedContribution>[]> {
  const committees = new SyncCommittees(context);
  return validateBatch(context, signedContributions, {
    examine: (signedContribution) => examineContribution(context, committees, signedContribution),
    claim(value) {
      refuseSeenContribution(context, value);
      context.seen.contributions.add(value.contribution, value.aggregatorIndex);
      return value;
    },
  });
}

async function examineContribution(
  context: ValidationContext,
  committees: SyncCommittees,
  signedContribution: altair.SignedContributionAndProof,
): Promise<Candidate<ValidatedContribution>> {
  const { contribution, aggregatorIndex, selectionProof } = signedContribution.message;
  const { slot, subcommitteeIndex, aggregationBits, beaconBlockRoot } = contribution;
  refuseUnlessCurrentSlot(context, slot, "The sync committee contribution");
  if (subcommitteeIndex >= SYNC_COMMITTEE_SUBNET_COUNT) {
    throw reject(
      "subcommittee-index-out-of-range",
      `The contribution has subcommittee index ${subcommitteeIndex}, the maximum is ` +
        `${SYNC_COMMITTEE_SUBNET_COUNT - 1}.`,
    );
  }
  const members = subcommitteeMembers(await committees.at(slot), subcommitteeIndex);
  const participants = aggregationBits.intersectValues(members);
  if (participants.length === 0) {
    throw reject(
      "no-participants",
      `The contribution of subcommittee ${subcommitteeIndex} at slot ${slot} has no signatures.`,
    );
  }
  if (!members.includes(aggregatorIndex)) {
    throw reject(
      "not-in-committee",
      `The aggregator ${aggregatorIndex} is not in sync subcommittee ${subcommitteeIndex} of slot ` +
        `${slot}.${ofNextPeriod(slot)}`,
    );
  }
  const value = { contribution, aggregatorIndex, blockRoot: toRootHex(beaconBlockRoot), participants };
  refuseSeenContribution(context, value);
  if (!isSyncCommitteeAggregator(selectionProof)) {
    throw reject(
      "not-selected-as-aggregator",
      `The selection proof of validator ${aggregatorIndex} does not make it an aggregator at slot ${slot}.`,
    );
  }
  return { value, signatures: contributionSignatures(context, signedContribution, participants) };
}

/** Treats a second contribution by the same aggregator as known, as with aggregates. */
function refuseSeenContribution(
  { seen }: ValidationContext,
  { contribution, aggregatorIndex }: ValidatedContribution,
): void {
  const { slot, subcommitteeIndex } = contribution;
  if (seen.contributions.hasSuperset(contribution)) {
    throw alreadyKnown(
      `A contribution of subcommittee ${subcommitteeIndex} at slot ${slot} with all these signatures is already known.`,
    );
  }
  if (seen.contributions.hasAggregator(slot, subcommitteeIndex, aggregatorIndex)) {
    throw alreadyKnown(
      `A contribution of aggregator ${aggregatorIndex} for subcommittee ${subcommitteeIndex} at slot ${slot} is ` +
        "already known.",
    );
  }
}

function contributionSignatures(
  context: ValidationContext,
  { message, signature }: altair.SignedContributionAndProof,
  participants: ValidatorIndex[],
): SignatureClaim[] {
  const { config } = context;
  const { aggregatorIndex, selectionProof, contribution } = message;
  const { slot, subcommitteeIndex } = contribution;
  const proofRoot = computeSigningRoot(
    ssz.altair.SyncAggregatorSelectionData,
    { slot, subcommitteeIndex },
    config.getDomain(slot, DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF, slot),
  );
  const messageRoot = computeSigningRoot(
    ssz.altair.ContributionAndProof,
    message,
    config.getDomain(slot, DOMAIN_CONTRIBUTION_AND_PROOF, slot),
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
      message: `The contribution with its proof is not signed by its aggregator, validator ${aggregatorIndex}.`,
    },
    {
      set: createAggregateSignatureSetFromComponents(
        participants,
        blockSigningRoot(context, contribution),
        contribution.signature,
      ),
      reason: "bad-signature",
      message: `The contribution of slot ${slot} is not signed by its ${participants.length} participants.`,
    },
  ];
}

function blockSigningRoot(
  { config }: ValidationContext,
  { slot, beaconBlockRoot }: { slot: number; beaconBlockRoot: Uint8Array },
): Uint8Array {
  return computeSigningRoot(ssz.Root, beaconBlockRoot, config.getDomain(slot, DOMAIN_SYNC_COMMITTEE, slot));
}
