import type { BeaconConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { computeStartSlotAtEpoch, getBlockProposerSignatureSet } from "@lodestar/state-transition";
import type { BeaconBlock, RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { ForkChoiceBlock } from "../fork-choice/types.ts";
import { BlockRejection } from "./block-rejection.ts";
import { badSignature } from "./verify-block.ts";

/** What can be said about a block from fork choice and the clock alone (fork-choice.md, on_block). Returns its parent. */
export function checkBeforeTransition(
  { slot, parentRoot }: BeaconBlock,
  { forkChoice, clock }: { forkChoice: ForkChoice; clock: Pick<Clock, "currentSlot"> },
): ForkChoiceBlock {
  refuseFutureSlot(slot, clock);
  const { finalized } = forkChoice;
  const finalizedSlot = computeStartSlotAtEpoch(finalized.epoch);
  if (slot <= finalizedSlot) {
    throw new BlockRejection(
      "finalized-slot",
      `The block is of slot ${slot}, but the chain is finalized up to slot ${finalizedSlot}.`,
    );
  }
  const parentHex = toRootHex(parentRoot);
  if (forkChoice.isInvalid(parentHex)) {
    throw new BlockRejection("invalid-parent", `The execution payload of the parent block ${parentHex} is invalid.`);
  }
  const parent = forkChoice.get(parentHex);
  if (!parent) throw new BlockRejection("unknown-parent", `The parent block ${parentHex} is not known.`);
  refuseEarlierThanParent(slot, parent.slot);
  if (!forkChoice.isDescendantOfFinalized(parentHex)) {
    throw new BlockRejection(
      "not-descendant-of-finalized",
      `The block does not descend from the finalized block ${finalized.root}.`,
    );
  }
  return parent;
}

/**
 * What the execution engine refused a short while ago need not be asked about again. Those of the tree are asked about behind the
 * chain's back (`RefusalReview`).
 */
export function refuseInvalidPayload(root: RootHex, forkChoice: ForkChoice): void {
  if (!forkChoice.isInvalid(root)) return;
  if (!forkChoice.has(root) && forkChoice.refusals.isOver(root, forkChoice.currentSlot)) return;
  throw new BlockRejection(
    "invalid-payload",
    `The execution payload of the block ${root} was found to be invalid before.`,
  );
}

/** The same for a block whose parent passed all this just before, but is not in fork choice yet. */
export function checkAfterParent({ slot }: BeaconBlock, parent: BeaconBlock, clock: Clock): void {
  refuseFutureSlot(slot, clock);
  refuseEarlierThanParent(slot, parent.slot);
}

function refuseFutureSlot(slot: Slot, { currentSlot }: Pick<Clock, "currentSlot">): void {
  if (slot <= currentSlot) return;
  throw new BlockRejection("future-slot", `The block is of slot ${slot}, but the current slot is ${currentSlot}.`);
}

function refuseEarlierThanParent(slot: Slot, parentSlot: Slot): void {
  if (slot > parentSlot) return;
  throw new BlockRejection(
    "not-later-than-parent",
    `The block is of slot ${slot}, which is not after its parent's slot ${parentSlot}.`,
  );
}

/**
 * Each epoch between a block and its parent costs an epoch transition before anything of the block can be verified. For
 * many of them it must at least be signed by the validator it names, so that nobody can invent such work for nothing.
 */
export async function refuseUnsignedLeap(
  signed: SignedBeaconBlock,
  parentSlot: Slot,
  { config, bls }: { config: BeaconConfig; bls: BlsVerifier },
): Promise<void> {
  if (signed.message.slot - parentSlot <= SLOTS_PER_EPOCH) return;
  if (!(await bls.verify([getBlockProposerSignatureSet(config, signed)]))) throw badSignature(signed);
}
