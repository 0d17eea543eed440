import type { BeaconConfig } from "@lodestar/config";
import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import type { BeaconDb } from "../db/beacon-db.ts";
import type { Logger } from "../log/logger.ts";
import { Progress } from "../log/progress.ts";
import { readStoredBlock } from "./blocks/stored-block.ts";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import { BlockRejection } from "./import/block-rejection.ts";
import type { ImportQueue } from "./import/import-queue.ts";

interface RestoreParts {
  config: BeaconConfig;
  db: BeaconDb;
  forkChoice: ForkChoice;
  importQueue: ImportQueue;
  logger: Logger;
  /** Ends the restoring. */
  signal?: AbortSignal;
}

/**
 * Takes the unfinalized blocks of the database that fork choice lacks back into it, in the order of their slots. A block that does not
 * fit any more is left out, and so are its descendants. It stays in the database until finality passes its slot: what an
 * execution engine refuses today may be accepted at the next start.
 */
export async function restoreBlocks({
  config,
  db,
  forkChoice,
  importQueue,
  logger,
  signal,
}: RestoreParts): Promise<{ restored: number; leftOut: number }> {
  const missing: RootHex[] = [];
  for await (const { root } of db.hotBlocks.entries()) if (!forkChoice.has(root)) missing.push(root);
  const progress = new Progress({ message: "Replaying blocks", logger });
  let restored = 0;
  let leftOut = 0;
  for (const root of missing) {
    signal?.throwIfAborted();
    progress.report(restored + leftOut, missing.length, (blocksPerSecond) => ({
      blocks: restored + leftOut,
      of: missing.length,
      blocksPerSecond,
    }));
    const signed = await readBlock({ config, db }, root);
    if (signed && (await fits(signed, root, importQueue))) restored++;
    else leftOut++;
  }
  return { restored, leftOut };
}

/** Null for bytes that are missing or damaged. */
async function readBlock(
  stored: Pick<RestoreParts, "config" | "db">,
  root: RootHex,
): Promise<SignedBeaconBlock | null> {
  const bytes = await stored.db.blocks.get(root);
  try {
    return bytes && readStoredBlock(stored, root, bytes);
  } catch {
    return null;
  }
}

async function fits(signed: SignedBeaconBlock, root: RootHex, importQueue: ImportQueue): Promise<boolean> {
  try {
    await importQueue.restore(signed, root);
    return true;
  } catch (error) {
    if (error instanceof BlockRejection) return false;
    throw error;
  }
}
