import type { BeaconConfig } from "@lodestar/config";
import type { RootHex, Slot } from "@lodestar/types";
import type { BeaconDb } from "../db/beacon-db.ts";
import { DatabaseCorruptError } from "../db/errors.ts";
import type { SlotAndRoot } from "../db/keys.ts";
import { parentRootOf, slotOf } from "./blocks/block-encoding.ts";
import { readStoredBlock } from "./blocks/stored-block.ts";

/** So many of the newest blocks are looked at, and as many in all of the history before. */
const LOOKED_AT = 1024;

interface HistoryParts {
  config: BeaconConfig;
  db: BeaconDb;
  /** The block up to which the chain is final. */
  finalizedRoot: RootHex;
}

/**
 * Looks whether the finalized part of the database is one chain up to the finalized block: its ends are the blocks that they
 * should be, and each block that is looked at is the child of the one before. Throws a `DatabaseCorruptError`.
 */
export async function requireWholeHistory({ config, db, finalizedRoot }: HistoryParts): Promise<void> {
  const damaged = (reason: string) => new DatabaseCorruptError(db.path, reason);
  const newest = await db.finalizedBlocks.lastAtOrBefore(Number.POSITIVE_INFINITY);
  const oldest = await db.finalizedBlocks.firstAfter(-1);
  if (!oldest || newest?.root !== finalizedRoot) {
    throw damaged(`the finalized block ${finalizedRoot} is not the last of the finalized chain`);
  }
  for (const { slot, root } of [oldest, newest]) {
    const bytes = await db.blocks.get(root);
    if (bytes) requireSlot(readStoredBlock({ config, db }, root, bytes).message.slot, slot, root);
  }
  let before: SlotAndRoot | undefined;
  for await (const entry of db.finalizedBlocks.range({})) {
    if (before && isLookedAt(entry.slot, oldest.slot, newest.slot)) await requireChild(entry, before);
    before = entry;
  }

  async function requireChild({ slot, root }: SlotAndRoot, parent: SlotAndRoot): Promise<void> {
    const bytes = await db.blocks.get(root);
    if (!bytes) throw damaged(`the finalized block ${root} of slot ${slot} is missing`);
    requireSlot(slotOf(bytes), slot, root);
    if (parentRootOf(bytes) !== parent.root) {
      throw damaged(`between the finalized blocks of the slots ${parent.slot} and ${slot} there is another one`);
    }
  }

  function requireSlot(found: Slot, slot: Slot, root: RootHex): void {
    if (found !== slot) throw damaged(`the finalized block ${root} is of slot ${found}, not of slot ${slot}`);
  }
}

function isLookedAt(slot: Slot, oldest: Slot, newest: Slot): boolean {
  const step = Math.ceil((newest - oldest) / LOOKED_AT);
  return slot > newest - LOOKED_AT || (slot - oldest) % step === 0;
}
