import type { BeaconConfig } from "@lodestar/config";
import type { RootHex, Slot } from "@lodestar/types";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { DatabaseCorruptError } from "../../db/errors.ts";
import type { SlotAndRoot } from "../../db/keys.ts";
import { parentRootOf, slotOf } from "../blocks/block-encoding.ts";
import { readStoredBlock } from "../blocks/stored-block.ts";

/** Number of newest blocks to check, and number of samples from older history. */
const CHECKED_BLOCKS = 1024;

interface HistoryParts {
  config: BeaconConfig;
  db: BeaconDb;
  /** The latest finalized block. */
  finalizedRoot: RootHex;
}

/**
 * Checks that the finalized blocks in the database form one chain that ends with the finalized block. Older history is
 * only sampled. Throws a `DatabaseCorruptError`.
 */
export async function checkFinalizedHistory({ config, db, finalizedRoot }: HistoryParts): Promise<void> {
  const damaged = (reason: string) => new DatabaseCorruptError(db.path, reason);
  const newest = await db.finalizedBlocks.lastAtOrBefore(Number.POSITIVE_INFINITY);
  const oldest = await db.finalizedBlocks.firstAfter(-1);
  if (!oldest || newest?.root !== finalizedRoot) {
    throw damaged(`the finalized block ${finalizedRoot} is not the newest entry of the finalized chain`);
  }
  for (const { slot, root } of [oldest, newest]) {
    const bytes = await db.blocks.get(root);
    if (bytes) requireSlot(readStoredBlock({ config, db }, root, bytes).message.slot, slot, root);
  }
  let previous: SlotAndRoot | undefined;
  for await (const entry of db.finalizedBlocks.range({})) {
    if (previous && isChecked(entry.slot, oldest.slot, newest.slot)) await requireChild(entry, previous);
    previous = entry;
  }

  async function requireChild({ slot, root }: SlotAndRoot, parent: SlotAndRoot): Promise<void> {
    const bytes = await db.blocks.get(root);
    if (!bytes) throw damaged(`the finalized block ${root} of slot ${slot} is missing`);
    requireSlot(slotOf(bytes), slot, root);
    if (parentRootOf(bytes) !== parent.root) {
      throw damaged(`the finalized block at slot ${slot} is not a child of the one at slot ${parent.slot}`);
    }
  }

  function requireSlot(actualSlot: Slot, slot: Slot, root: RootHex): void {
    if (actualSlot !== slot) throw damaged(`the finalized block ${root} has slot ${actualSlot}, expected ${slot}`);
  }
}

function isChecked(slot: Slot, oldest: Slot, newest: Slot): boolean {
  const step = Math.ceil((newest - oldest) / CHECKED_BLOCKS);
  return slot > newest - CHECKED_BLOCKS || (slot - oldest) % step === 0;
}
