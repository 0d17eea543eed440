import {
  createIndexedSignatureSetFromComponents,
  getPayloadAttestationDataSigningRoot,
} from "@lodestar/state-transition";
import type { gloas, RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { committeePositions } from "../../import/fork-choice-import.ts";
import { type Candidate, validateBatch } from "../batch.ts";
import { stateOrIgnore, type ValidationContext } from "../context.ts";
import { alreadyKnown, ignore, type Outcome, reject } from "../outcome.ts";
import { refuseUnlessCurrentSlot } from "../time-window.ts";
import { refuseUnknownBlock } from "./known-block.ts";

/** A validated vote of a member of a payload timeliness committee. */
export interface ValidatedPayloadAttestation {
  message: gloas.PayloadAttestationMessage;
  blockRoot: RootHex;
  /** Positions of the validator in the committee. */
  positions: number[];
}

const SUBJECT = "The payload attestation";

/**
 * Validates messages against the rules of the topic payload_attestation_message (gloas/p2p-interface.md). Verifies all
 * signatures as a batch. Outcomes are in input order; accepted messages are marked as seen.
 */
export function validatePayloadAttestations(
  context: ValidationContext,
  messages: readonly gloas.PayloadAttestationMessage[],
): Promise<Outcome<ValidatedPayloadAttestation>[]> {
  return validateBatch(context, messages, {
    examine: (message) => examine(context, message),
    claim(validated) {
      const { data, validatorIndex } = validated.message;
      refuseSecondVote(context, validated.message);
      context.seen.payloads.addVote(data.slot, validatorIndex);
      return validated;
    },
  });
}

async function examine(
  context: ValidationContext,
  message: gloas.PayloadAttestationMessage,
): Promise<Candidate<ValidatedPayloadAttestation>> {
  const { data, validatorIndex, signature } = message;
  const { slot } = data;
  const { config, states } = context;
  refuseUnlessCurrentSlot(context, slot, SUBJECT);
  refuseSecondVote(context, message);
  const blockRoot = toRootHex(data.beaconBlockRoot);
  const block = refuseUnknownBlock(context, blockRoot, SUBJECT);
  if (block.slot !== slot) {
    throw ignore("wrong-slot", `${SUBJECT} of slot ${slot} is for block ${blockRoot} of slot ${block.slot}.`);
  }
  if (block.bid === undefined) {
    throw reject("wrong-fork", `${SUBJECT} is for block ${blockRoot} of slot ${slot}, which is from before gloas.`);
  }
  const { epochCtx } = await stateOrIgnore(states.ofBlock(blockRoot), SUBJECT);
  const positions = committeePositions(epochCtx.getPayloadTimelinessCommittee(slot), new Set([validatorIndex]));
  if (positions.length === 0) {
    throw reject(
      "not-in-committee",
      `Validator ${validatorIndex} is not in the payload timeliness committee of slot ${slot}.`,
    );
  }
  return {
    value: { message, blockRoot, positions },
    signatures: [
      {
        set: createIndexedSignatureSetFromComponents(
          validatorIndex,
          getPayloadAttestationDataSigningRoot(config, data),
          signature,
        ),
        reason: "bad-signature",
        message: `${SUBJECT} of slot ${slot} is not signed by validator ${validatorIndex}.`,
      },
    ],
  };
}

function refuseSecondVote(
  { seen }: ValidationContext,
  { data: { slot }, validatorIndex }: gloas.PayloadAttestationMessage,
): void {
  if (!seen.payloads.hasVoted(slot, validatorIndex)) return;
  throw alreadyKnown(`A payload attestation of validator ${validatorIndex} for slot ${slot} is already known.`);
}
