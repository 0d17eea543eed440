import type { RootHex, Slot } from "@lodestar/types";
import { parentRootOf, slotOf } from "../../chain/blocks/block-encoding.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { SlotAndRoot } from "../../db/keys.ts";

/**
 * Returns the canonical blocks in an inclusive slot range in ascending order. All of them are on the chain of the
 * current head, even if the head changes while they are being read.
 */
export async function canonicalBlocks(
  chain: Pick<BeaconChain, "forkChoice" | "head">,
  db: BeaconDb,
  fromSlot: Slot,
  toSlot: Slot,
): Promise<SlotAndRoot[]> {
  const newestFinal = await db.finalizedBlocks.lastAtOrBefore(Number.POSITIVE_INFINITY);
  const recent = newestFinal && newestFinal.slot >= toSlot ? [] : await recentBlocks(chain, db, newestFinal);
  const blocks: SlotAndRoot[] = [];
  const finalRange = { from: fromSlot, to: Math.min(toSlot, newestFinal?.slot ?? -1) };
  for await (const block of db.finalizedBlocks.range(finalRange)) blocks.push(block);
  for (const block of recent) if (block.slot >= fromSlot && block.slot <= toSlot) blocks.push(block);
  return blocks;
}

/** Returns the blocks after the newest finalized one, up to and including the head, in ascending order. */
async function recentBlocks(
  { forkChoice, head }: Pick<BeaconChain, "forkChoice" | "head">,
  db: BeaconDb,
  newestFinal: SlotAndRoot | null,
): Promise<SlotAndRoot[]> {
  const finalSlot = newestFinal?.slot ?? -1;
  const recent: SlotAndRoot[] = [];
  let parentRoot: RootHex | undefined;
  for (const block of forkChoice.ancestors(head.root)) {
    if (block.slot <= finalSlot) return recent.reverse();
    recent.push(block);
    parentRoot = block.parentRoot;
  }
  // Blocks are pruned from fork choice shortly before they appear in the finalized index.
  while (parentRoot !== undefined && parentRoot !== newestFinal?.root) {
    const bytes = await db.blocks.get(parentRoot);
    if (!bytes || slotOf(bytes) <= finalSlot) break;
    recent.push({ slot: slotOf(bytes), root: parentRoot });
    parentRoot = parentRootOf(bytes);
  }
  return recent.reverse();
}
