import type { BeaconConfig } from "@lodestar/config";
import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { SlotAndRoot } from "../../db/keys.ts";
import type { Logger } from "../../log/logger.ts";
import { Progress } from "../../log/progress.ts";
import { readStoredBlock } from "../blocks/stored-block.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { ForkChoiceExecution } from "../fork-choice/types.ts";
import { BlockRejection } from "../import/block-rejection.ts";
import type { ImportQueue } from "../import/import-queue.ts";
import { deserializeBlockFacts } from "../stored-fork-choice.ts";

interface RestoreParts {
  config: BeaconConfig;
  db: BeaconDb;
  clock: Clock;
  forkChoice: ForkChoice;
  importQueue: ImportQueue;
  logger: Logger;
  /** Ends the restoring. */
  signal?: AbortSignal;
}

interface StoredBlock {
  root: RootHex;
  /** What was known of its payload; null where the database does not tell. */
  execution: ForkChoiceExecution | null;
}

/**
 * Takes the unfinalized blocks of the database that fork choice lacks back into it, in the order of their slots. A block that does not
 * fit any more is left out, and so are its descendants; so is one whose payload was found invalid. It stays in the database until
 * finality passes its slot. The execution engine is asked only about payloads of which the database tells nothing.
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
  for await (const { facts, ...position } of db.hotBlocks.entries()) {
    if (forkChoice.has(position.root)) continue;
    const execution = readExecution(facts, position);
    if (execution?.status === "invalid") forkChoice.refusals.begin(position.root, clock.currentSlot);
    else missing.push({ root: position.root, execution });
  }
  const progress = new Progress({ message: "Replaying blocks", logger });
  let restored = 0;
  let leftOut = 0;
  for (const { root, execution } of missing) {
    signal?.throwIfAborted();
    progress.report(restored + leftOut, missing.length, (blocksPerSecond) => ({
      blocks: restored + leftOut,
      of: missing.length,
      blocksPerSecond,
    }));
    const signed = await readBlock({ config, db }, root);
    if (signed && (await fits(signed, { root, execution }, importQueue))) restored++;
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

/** Null when it was not stored, or cannot be read. */
function readExecution(facts: Uint8Array, position: SlotAndRoot & { parentRoot: RootHex }): ForkChoiceExecution | null {
  if (facts.length === 0) return null;
  try {
    return deserializeBlockFacts(facts, position).execution;
  } catch {
    return null;
  }
}

async function fits(
  signed: SignedBeaconBlock,
  { root, execution }: StoredBlock,
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
