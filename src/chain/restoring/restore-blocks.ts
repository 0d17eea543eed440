import type { BeaconConfig } from "@lodestar/config";
import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { DatabaseCorruptError } from "../../db/errors.ts";
import type { SlotAndRoot } from "../../db/keys.ts";
import type { Logger } from "../../log/logger.ts";
import { Progress } from "../../log/progress.ts";
import { readStoredBlock } from "../blocks/stored-block.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { deserializeForkChoiceBlock } from "../fork-choice/stored-fork-choice.ts";
import type { ForkChoiceBlock, ForkChoiceExecution } from "../fork-choice/types.ts";
import { BlockRejection } from "../import/block-rejection.ts";
import type { ImportQueue } from "../import/import-queue.ts";

interface RestoreParts {
  config: BeaconConfig;
  db: BeaconDb;
  clock: Clock;
  forkChoice: ForkChoice;
  importQueue: ImportQueue;
  logger: Logger;
  /** Aborts restoring. */
  signal?: AbortSignal;
}

interface StoredBlock extends SlotAndRoot {
  /** Stored payload status; null if unknown. */
  execution: ForkChoiceExecution | null;
}

/**
 * Imports unfinalized blocks from the database that are missing from fork choice, in slot order. Skips blocks that are
 * damaged or no longer fit, along with their descendants, and blocks before gloas with invalid payloads. Skipped blocks
 * stay in the database until finality passes them. Queries the execution engine only about payloads without a stored
 * status.
 */
export async function restoreBlocks({
  config,
  db,
  clock,
  forkChoice,
  importQueue,
  logger,
  signal,
}: RestoreParts): Promise<{ restored: number; leftOut: number }> {
  const missing: StoredBlock[] = [];
  for await (const { forkChoiceData, ...position } of db.hotBlocks.entries()) {
    if (forkChoice.has(position.root)) continue;
    const stored = readForkChoiceBlock(forkChoiceData, position);
    const execution = stored?.execution ?? null;
    // Since gloas, a block is valid without its payload.
    if (execution?.status === "invalid" && stored?.bid === undefined) {
      forkChoice.retryBackoff.schedule(position.root, clock.currentSlot);
      continue;
    }
    missing.push({ slot: position.slot, root: position.root, execution });
  }
  const progress = new Progress({ message: "Replaying blocks", logger });
  let restored = 0;
  let leftOut = 0;
  const unreadable: (SlotAndRoot & { reason: string })[] = [];
  for (const { slot, root, execution } of missing) {
    signal?.throwIfAborted();
    progress.report(restored + leftOut, missing.length, (blocksPerSecond) => ({
      blocks: restored + leftOut,
      of: missing.length,
      blocksPerSecond,
    }));
    const signed = await readBlock({ config, db }, root).catch((error) => {
      if (!(error instanceof DatabaseCorruptError)) throw error;
      unreadable.push({ slot, root, reason: error.problem });
    });
    if (signed && (await fits(signed, { root, execution }, importQueue))) restored++;
    else leftOut++;
  }
  if (unreadable[0]) {
    const fields = { blocks: unreadable.length, ...unreadable[0] };
    logger.error("Stored blocks unreadable, continuing without them", fields);
  }
  return { restored, leftOut };
}

/** Throws a `DatabaseCorruptError` if the bytes are missing or damaged. */
async function readBlock(stored: Pick<RestoreParts, "config" | "db">, root: RootHex): Promise<SignedBeaconBlock> {
  const bytes = await stored.db.blocks.get(root);
  if (bytes === null) throw new DatabaseCorruptError(stored.db.path, `block ${root} is missing`);
  return readStoredBlock(stored, root, bytes);
}

/** Returns null if fork choice data was not stored or cannot be decoded. */
function readForkChoiceBlock(
  forkChoiceData: Uint8Array,
  position: SlotAndRoot & { parentRoot: RootHex },
): ForkChoiceBlock | null {
  if (forkChoiceData.length === 0) return null;
  try {
    return deserializeForkChoiceBlock(forkChoiceData, position);
  } catch {
    return null;
  }
}

async function fits(
  signed: SignedBeaconBlock,
  { root, execution }: Pick<StoredBlock, "root" | "execution">,
  importQueue: ImportQueue,
): Promise<boolean> {
  try {
    await importQueue.restore(signed, root, execution);
    return true;
  } catch (error) {
    if (error instanceof BlockRejection) return false;
    throw error;
  }
}
