import { computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { BlockStore } from "../blocks/block-store.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { RootedBlock } from "./segment-links.ts";

/** Whether the chain has the block: fork choice forgets those of the finalized history. */
export async function isKnownBlock(
  { root, signed }: RootedBlock,
  { forkChoice, blocks }: { forkChoice: ForkChoice; blocks: BlockStore },
): Promise<boolean> {
  if (forkChoice.has(root)) return true;
  const { slot } = signed.message;
  const finalizedSlot = computeStartSlotAtEpoch(forkChoice.finalized.epoch);
  return slot <= finalizedSlot && (await blocks.isCanonical(root, slot));
}
