import type { BeaconConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { computeStartSlotAtEpoch, getBlockProposerSignatureSet } from "@lodestar/state-transition";
import type { BeaconBlock, RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BlsVerifier } from "../../bls/verifier.ts";
import { bidOf } from "../blocks/bid.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { ForkChoiceBlock } from "../fork-choice/types.ts";
import { BlockRejection } from "./block-rejection.ts";
import { badSignature } from "./verify-block.ts";

/** Checks a block against fork choice and the clock (fork-choice.md, on_block). Returns its parent. */
export function checkBeforeTransition(
  block: BeaconBlock,
  { forkChoice, clock }: { forkChoice: ForkChoice; clock: Pick<Clock, "currentSlot"> },
): ForkChoiceBlock {
  const { slot, parentRoot } = block;
  refuseFutureSlot(slot, clock);
  const { finalized } = forkChoice;
  const finalizedSlot = computeStartSlotAtEpoch(finalized.epoch);
  if (slot <= finalizedSlot) {
    throw new BlockRejection(
      "finalized-slot",
      `The block's slot ${slot} is not after the finalized slot ${finalizedSlot}.`,
    );
  }
  const parentHex = toRootHex(parentRoot);
  if (forkChoice.isInvalid(parentHex)) {
    throw new BlockRejection("invalid-parent", `The execution payload of the parent block ${parentHex} is invalid.`);
  }
  const parent = forkChoice.get(parentHex);
  if (!parent) throw new BlockRejection("unknown-parent", `Unknown parent block ${parentHex}.`);
  refuseEarlierThanParent(slot, parent.slot);
  if (!forkChoice.isDescendantOfFinalized(parentHex)) {
    throw new BlockRejection(
      "not-descendant-of-finalized",
      `The block does not descend from the finalized block ${finalized.root}.`,
    );
  }
  refuseUnknownPayload(block, parent, forkChoice.isPayloadVerified(parentHex));
  return parent;
}

/**
 * gloas/fork-choice.md, on_block: if a block builds on the payload of its parent, that payload must be verified.
 * `parent` has no bid before gloas.
 */
function refuseUnknownPayload(
  block: BeaconBlock,
  { root, bid }: Pick<ForkChoiceBlock, "root" | "bid">,
  isVerified: boolean,
): void {
  const own = bidOf(block);
  if (isVerified || !own || !bid || toRootHex(own.parentBlockHash) !== bid.blockHash) return;
  throw new BlockRejection(
    "unknown-parent-payload",
    `The block at slot ${block.slot} is built on the payload of its parent ${root}, which has not been verified.`,
  );
}

/** Rejects payloads that the engine rejected recently. Blocks in the tree are retried in the background. */
export function refuseInvalidPayload(root: RootHex, forkChoice: ForkChoice): void {
  if (!forkChoice.isInvalid(root)) return;
  if (!forkChoice.has(root) && forkChoice.retryBackoff.isDue(root, forkChoice.currentSlot)) return;
  throw new BlockRejection("invalid-payload", `The execution payload of block ${root} is known to be invalid.`);
}

/** Checks a block whose parent has passed the checks but is not in fork choice yet, and has no payload there. */
export function checkAfterParent(block: BeaconBlock, parent: BeaconBlock, clock: Clock): void {
  refuseFutureSlot(block.slot, clock);
  refuseEarlierThanParent(block.slot, parent.slot);
  const bid = bidOf(parent);
  if (!bid) return;
  const [blockHash, parentBlockHash] = [toRootHex(bid.blockHash), toRootHex(bid.parentBlockHash)];
  refuseUnknownPayload(block, { root: toRootHex(block.parentRoot), bid: { blockHash, parentBlockHash } }, false);
}

function refuseFutureSlot(slot: Slot, { currentSlot }: Pick<Clock, "currentSlot">): void {
  if (slot <= currentSlot) return;
  throw new BlockRejection(
    "future-slot",
    `The block's slot ${slot} is in the future: the current slot is ${currentSlot}.`,
  );
}

function refuseEarlierThanParent(slot: Slot, parentSlot: Slot): void {
  if (slot > parentSlot) return;
  throw new BlockRejection(
    "not-later-than-parent",
    `The block's slot ${slot} is not after its parent's slot ${parentSlot}.`,
  );
}

/**
 * Requires a valid proposer signature before the state is advanced by more than an epoch. Otherwise, unsigned blocks
 * could cause expensive epoch transitions.
 */
export async function requireSignedEpochSkip(
  signed: SignedBeaconBlock,
  parentSlot: Slot,
  { config, bls }: { config: BeaconConfig; bls: BlsVerifier },
): Promise<void> {
  if (signed.message.slot - parentSlot <= SLOTS_PER_EPOCH) return;
  if (!(await bls.verify([getBlockProposerSignatureSet(config, signed)]))) throw badSignature(signed);
}
