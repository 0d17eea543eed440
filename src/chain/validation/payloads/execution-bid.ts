import {
  BUILDER_INDEX_SELF_BUILD,
  MIN_SEED_LOOKAHEAD,
  PAYLOAD_BUILDER_VERSION,
  SLOTS_PER_EPOCH,
} from "@lodestar/params";
import {
  type CachedBeaconStateGloas,
  canBuilderCoverBid,
  computeEpochAtSlot,
  getRandaoMix,
  isActiveBuilder,
  isGasLimitTargetCompatible,
} from "@lodestar/state-transition";
import type { gloas } from "@lodestar/types";
import { byteArrayEquals, toRootHex } from "@lodestar/utils";
import { verifyBidSignature } from "../../bids/bid-validation.ts";
import { shufflingDependentSlot } from "../../fork-choice/head/proposer-boost.ts";
import { executionBlockOf, type ForkChoiceBlock } from "../../fork-choice/types.ts";
import { stateOrIgnore, type ValidationContext } from "../context.ts";
import { alreadyKnown, ignore, reject } from "../outcome.ts";
import { refuseFutureSlot, refusePastSlot } from "../time-window.ts";

const SUBJECT = "The bid";

/**
 * Validates a bid against the rules of the topic execution_payload_bid (gloas/p2p-interface.md) and marks it as seen.
 * Throws a `GossipValidationError`.
 */
export async function validateExecutionBid(
  context: ValidationContext,
  signed: gloas.SignedExecutionPayloadBid,
): Promise<void> {
  const { message: bid } = signed;
  refuseOtherSlot(context, bid);
  refuseSeen(context, bid);
  if (bid.executionPayment !== 0n) {
    throw reject("wrong-bid", `${SUBJECT} has an execution payment of ${bid.executionPayment}; it must be zero.`);
  }
  const epoch = computeEpochAtSlot(bid.slot);
  const maxBlobs = context.config.getMaxBlobsPerBlock(epoch);
  if (bid.blobKzgCommitments.length > maxBlobs) {
    throw reject(
      "too-many-blobs",
      `${SUBJECT} commits to ${bid.blobKzgCommitments.length} blobs; in epoch ${epoch} at most ${maxBlobs} are allowed.`,
    );
  }
  const parent = knownParent(context, bid);
  await refuseUnwanted(context, bid, parent);
  refuseOtherBranch(context, bid);
  await refuseBadBuilder(context, signed, parent);
  // A better bid may have been accepted during validation.
  refuseSeen(context, bid);
  context.seen.payloads.bids.add(bid);
}

/** is_current_or_next_slot */
function refuseOtherSlot(context: ValidationContext, { slot }: gloas.ExecutionPayloadBid): void {
  refuseFutureSlot(context, slot - 1, `${SUBJECT} for slot ${slot}: the slot before`);
  refusePastSlot(context, slot, SUBJECT);
}

function refuseSeen({ seen }: ValidationContext, bid: gloas.ExecutionPayloadBid): void {
  const { slot, builderIndex, value } = bid;
  if (seen.payloads.bids.has(bid)) {
    throw alreadyKnown(`A bid of builder ${builderIndex} for slot ${slot} and this parent is already known.`);
  }
  const best = seen.payloads.bids.bestValue(bid);
  if (best === undefined || value > best) return;
  throw ignore(
    "bid-too-low",
    `${SUBJECT} of ${value} Gwei for slot ${slot} is not above the best one of ${best} Gwei.`,
  );
}

function knownParent({ forkChoice }: ValidationContext, bid: gloas.ExecutionPayloadBid): ForkChoiceBlock {
  const root = toRootHex(bid.parentBlockRoot);
  const parent = forkChoice.get(root);
  if (!parent) throw ignore("unknown-block", `${SUBJECT} is for a child of the unknown block ${root}.`);
  if (bid.slot <= parent.slot) {
    throw reject(
      "slot-not-after-parent",
      `${SUBJECT}'s slot ${bid.slot} is not after its parent's slot ${parent.slot}.`,
    );
  }
  const lastEpoch = computeEpochAtSlot(parent.slot) + MIN_SEED_LOOKAHEAD;
  if (computeEpochAtSlot(bid.slot) > lastEpoch) {
    throw ignore(
      "future-epoch",
      `${SUBJECT}'s slot ${bid.slot} is after epoch ${lastEpoch}, the last of its parent's proposer lookahead.`,
    );
  }
  return parent;
}

/** Ignores a bid that does not match the proposer's preferences. */
async function refuseUnwanted(
  { forkChoice, seen, payloadGasLimit }: ValidationContext,
  bid: gloas.ExecutionPayloadBid,
  parent: ForkChoiceBlock,
): Promise<void> {
  const dependentSlot = shufflingDependentSlot(computeEpochAtSlot(bid.slot), SLOTS_PER_EPOCH);
  const dependentRoot = forkChoice.ancestorAtSlot(parent.root, dependentSlot);
  const preferences =
    dependentRoot === undefined ? undefined : seen.payloads.preferences.get(bid.slot, dependentRoot)?.message;
  if (!preferences) {
    throw ignore("unknown-preferences", `The preferences of the proposer of slot ${bid.slot} are unknown.`);
  }
  if (!byteArrayEquals(bid.feeRecipient, preferences.feeRecipient)) {
    throw ignore(
      "wrong-fee-recipient",
      `${SUBJECT} does not pay the fee recipient of the proposer of slot ${bid.slot}.`,
    );
  }
  const parentHash = toRootHex(bid.parentBlockHash);
  const parentGasLimit = await payloadGasLimit(parentHash, parent);
  if (parentGasLimit === undefined) {
    throw ignore("unknown-payload", `${SUBJECT} is built on the unknown payload ${parentHash}.`);
  }
  if (!isGasLimitTargetCompatible(parentGasLimit, bid.gasLimit, preferences.targetGasLimit)) {
    throw ignore(
      "wrong-gas-limit",
      `${SUBJECT} has gas limit ${bid.gasLimit}, which does not follow from ${parentGasLimit} and the proposer's target ` +
        `of ${preferences.targetGasLimit}.`,
    );
  }
}

/** is_bid_compatible_with_head */
function refuseOtherBranch({ forkChoice }: ValidationContext, bid: gloas.ExecutionPayloadBid): void {
  const { head, headNode } = forkChoice;
  const parentRoot = toRootHex(bid.parentBlockRoot);
  const parentHash = toRootHex(bid.parentBlockHash);
  const isOnHead = parentRoot === head.root;
  // The head before the first block of gloas has its payload in the block.
  const full = head.bid?.blockHash ?? executionBlockOf(head)?.blockHash;
  const empty = head.bid?.parentBlockHash;
  const isOnParentOfHead = parentRoot === head.parentRoot && parentHash === empty;
  const expected = forkChoice.shouldBuildOnFull(headNode, bid.slot) ? full : empty;
  if (isOnParentOfHead || (isOnHead && parentHash === expected)) return;
  throw ignore(
    "not-on-head",
    `${SUBJECT} is built on block ${parentRoot} and payload ${parentHash}, which is not compatible with head ${head.root}.`,
  );
}

/** Checks the builder in the parent's post-state, advanced to the slot of the bid. */
async function refuseBadBuilder(
  { bls, states }: ValidationContext,
  signed: gloas.SignedExecutionPayloadBid,
  parent: ForkChoiceBlock,
): Promise<void> {
  const { slot, builderIndex, value, prevRandao } = signed.message;
  const state = (await stateOrIgnore(states.preState(parent.root, slot), SUBJECT)) as CachedBeaconStateGloas;
  if (!byteArrayEquals(prevRandao, getRandaoMix(state, computeEpochAtSlot(slot)))) {
    throw reject("wrong-bid", `${SUBJECT} has another previous randao than its parent's chain.`);
  }
  if (builderIndex === BUILDER_INDEX_SELF_BUILD || builderIndex >= state.builders.length) {
    throw reject("wrong-builder", `${SUBJECT} is from builder ${builderIndex}, which does not exist.`);
  }
  if (!canBuilderCoverBid(state, builderIndex, value)) {
    throw ignore(
      "builder-cannot-pay",
      `The balance of builder ${builderIndex} does not cover the bid of ${value} Gwei.`,
    );
  }
  const builder = state.builders.getReadonly(builderIndex);
  if (!isActiveBuilder(builder, state.finalizedCheckpoint.epoch)) {
    throw reject("wrong-builder", `Builder ${builderIndex} is not active.`);
  }
  if (builder.version !== PAYLOAD_BUILDER_VERSION) {
    throw reject("wrong-builder", `Builder ${builderIndex} has version ${builder.version} and builds no payloads.`);
  }
  if (!(await verifyBidSignature(bls, state, signed))) {
    throw reject("bad-signature", `${SUBJECT} for slot ${slot} is not signed by builder ${builderIndex}.`);
  }
}
