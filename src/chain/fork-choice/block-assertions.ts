import { ForkChoiceError } from "./error.ts";
import type { BlockTree } from "./tree/block-tree.ts";
import { buildsOnPayloadOf } from "./tree/proto-array.ts";
import { type ForkChoiceBlock, isPayloadVerified } from "./types.ts";

/** Assertions from on_block, and those from sync/optimistic.md about invalid payloads. */
export function requireImportable(
  tree: BlockTree,
  block: ForkChoiceBlock,
  { currentSlot, finalizedSlot }: { currentSlot: number; finalizedSlot: number },
): void {
  const parent = tree.get(block.parentRoot);
  const named = `Block ${block.root} of slot ${block.slot}`;
  if (parent === undefined) {
    throw new ForkChoiceError(
      "unknown-parent",
      `${named} has an unknown parent ${block.parentRoot}. Import the parent first.`,
    );
  }
  if (tree.isInvalidBlock(parent.root) || (block.bid === undefined && block.execution.status === "invalid")) {
    throw new ForkChoiceError("invalid-payload", `${named} or its parent has an invalid execution payload.`);
  }
  if (buildsOnPayloadOf(parent, block) && !isPayloadVerified(parent)) {
    const isInvalid = parent.execution.status === "invalid";
    throw new ForkChoiceError(
      isInvalid ? "invalid-payload" : "parent-payload-unknown",
      `${named} builds on the payload of block ${parent.root}, which is ${isInvalid ? "invalid" : "not verified yet"}.`,
    );
  }
  if (block.slot > currentSlot) {
    throw new ForkChoiceError("future-slot", `${named} is ahead of the current slot ${currentSlot}.`);
  }
  if (block.slot <= finalizedSlot) {
    throw new ForkChoiceError("not-after-finalized-slot", `${named} is not after the finalized slot ${finalizedSlot}.`);
  }
  if (!tree.isDescendantOfFinalized(parent.root)) {
    const { root, epoch } = tree.finalized;
    throw new ForkChoiceError(
      "not-descendant-of-finalized",
      `${named} does not descend from the finalized block ${root} of epoch ${epoch}.`,
    );
  }
}
