import type { RootHex } from "@lodestar/types";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { Logger } from "../../log/logger.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { deserializeForkChoiceBlock, deserializeVotes } from "../fork-choice/stored-fork-choice.ts";

interface RestoreParts {
  db: BeaconDb;
  forkChoice: ForkChoice;
  logger: Logger;
}

/**
 * Restores to fork choice the blocks and votes stored with the latest state, without executing the blocks. Skips blocks
 * and votes that do not fit the chain. Returns the number of restored blocks.
 */
export async function restoreCountedBlocks({ db, forkChoice, logger }: RestoreParts): Promise<number> {
  const votes = await db.meta.getVotes();
  if (votes === null) return 0;
  try {
    const { leaves, ...counted } = await deserializeVotes(votes);
    const restored = await restoreBlocks(leaves, { db, forkChoice, logger });
    forkChoice.importVotes(counted);
    return restored;
  } catch (error) {
    logger.warn("Stored votes unreadable, counting the votes in blocks again", { error });
    return 0;
  }
}

async function restoreBlocks(leaves: readonly RootHex[], { db, forkChoice, logger }: RestoreParts): Promise<number> {
  const parents = new Map<RootHex, RootHex>();
  for await (const { root, parentRoot } of db.hotBlocks.entries()) parents.set(root, parentRoot);
  const counted = new Set<RootHex>();
  for (const leaf of leaves) {
    for (let root: RootHex | undefined = leaf; root && !counted.has(root); root = parents.get(root)) counted.add(root);
  }
  let restored = 0;
  for await (const { forkChoiceData, ...position } of db.hotBlocks.entries()) {
    if (!counted.has(position.root) || forkChoiceData.length === 0) continue;
    try {
      forkChoice.onTick(position.slot);
      forkChoice.restoreBlock(deserializeForkChoiceBlock(forkChoiceData, position));
      restored++;
    } catch (error) {
      logger.debug("Failed to restore a stored block", { root: position.root, error });
    }
  }
  return restored;
}
