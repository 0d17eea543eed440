import { MAX_WITHDRAWALS_PER_PAYLOAD } from "@lodestar/params";
import { type CachedBeaconStateGloas, computeStartSlotAtEpoch } from "@lodestar/state-transition";
import { type gloas, type RootHex, ssz } from "@lodestar/types";
import { byteArrayEquals, toRootHex } from "@lodestar/utils";
import { verifyEnvelopeSignature } from "../../payloads/envelope-verification.ts";
import { stateOrIgnore, type ValidationContext } from "../context.ts";
import { alreadyKnown, ignore, reject } from "../outcome.ts";
import { refuseUnknownBlock } from "./known-block.ts";
import { refuseOver, refuseTooManyRequests } from "./operation-limits.ts";

const SUBJECT = "The execution payload envelope";

/**
 * An envelope that passed the gossip rules: it is signed by the builder of its block's bid. Only `validate` creates
 * instances, so the import need not verify the signature again.
 */
export class ValidatedEnvelope {
  readonly signed: gloas.SignedExecutionPayloadEnvelope;
  /** Root of the block. */
  readonly root: RootHex;

  private constructor(signed: gloas.SignedExecutionPayloadEnvelope, root: RootHex) {
    this.signed = signed;
    this.root = root;
  }

  /** Checks the rules of the topic execution_payload (gloas/p2p-interface.md). Does not mark the envelope as seen. */
  static async validate(
    context: ValidationContext,
    signed: gloas.SignedExecutionPayloadEnvelope,
  ): Promise<ValidatedEnvelope> {
    const { message: envelope } = signed;
    const { payload, builderIndex } = envelope;
    const { slotNumber } = payload;
    const { config, bls, forkChoice, states } = context;
    const root = toRootHex(envelope.beaconBlockRoot);
    const block = refuseUnknownBlock(context, root, SUBJECT);
    refuseSecondEnvelope(context, envelope);
    const finalizedSlot = computeStartSlotAtEpoch(forkChoice.finalized.epoch);
    if (slotNumber < finalizedSlot) {
      throw ignore("finalized-slot", `${SUBJECT}'s slot ${slotNumber} is before the finalized slot ${finalizedSlot}.`);
    }
    if (block.bid === undefined) {
      throw reject("wrong-fork", `${SUBJECT} is for block ${root} of slot ${block.slot}, which is from before gloas.`);
    }
    if (slotNumber !== block.slot) {
      throw reject("wrong-payload", `${SUBJECT} has slot number ${slotNumber}, but its block has slot ${block.slot}.`);
    }
    const state = (await stateOrIgnore(states.ofBlock(root), SUBJECT)) as CachedBeaconStateGloas;
    const bid = state.latestExecutionPayloadBid;
    if (builderIndex !== bid.builderIndex) {
      throw reject("wrong-builder", `${SUBJECT} is from builder ${builderIndex}, expected ${bid.builderIndex}.`);
    }
    if (!byteArrayEquals(payload.blockHash, bid.blockHash)) {
      const [actual, expected] = [toRootHex(payload.blockHash), toRootHex(bid.blockHash)];
      throw reject("wrong-payload", `${SUBJECT} has a payload with hash ${actual}, but the bid has ${expected}.`);
    }
    const requestsRoot = ssz.gloas.ExecutionRequests.hashTreeRoot(envelope.executionRequests);
    if (!byteArrayEquals(requestsRoot, bid.executionRequestsRoot)) {
      throw reject("wrong-payload", `${SUBJECT} has other execution requests than the bid of block ${root}.`);
    }
    refuseTooManyRequests(envelope.executionRequests, SUBJECT);
    refuseOver(SUBJECT, "withdrawals", payload.withdrawals, MAX_WITHDRAWALS_PER_PAYLOAD);
    if (!(await verifyEnvelopeSignature(config, bls, state, signed))) {
      throw reject("bad-signature", `${SUBJECT} of block ${root} is not signed by its builder.`);
    }
    return new ValidatedEnvelope(signed, root);
  }
}

/** Validates an envelope against the gossip rules and marks it as seen. */
export async function validateGossipEnvelope(
  context: ValidationContext,
  signed: gloas.SignedExecutionPayloadEnvelope,
): Promise<ValidatedEnvelope> {
  const validated = await ValidatedEnvelope.validate(context, signed);
  // Another envelope of the block may have been accepted during validation.
  refuseSecondEnvelope(context, signed.message);
  context.seen.payloads.addEnvelope(signed.message);
  return validated;
}

function refuseSecondEnvelope({ seen }: ValidationContext, envelope: gloas.ExecutionPayloadEnvelope): void {
  if (!seen.payloads.hasEnvelope(envelope)) return;
  throw alreadyKnown(`${SUBJECT} of block ${toRootHex(envelope.beaconBlockRoot)} is already known.`);
}
