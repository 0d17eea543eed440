import type { RootHex } from "@lodestar/types";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { Logger } from "../../log/logger.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { deserializeBlockFacts, deserializeVotes } from "../stored-fork-choice.ts";

interface RestoreParts {
  db: BeaconDb;
  forkChoice: ForkChoice;
  logger: Logger;
}

/**
 * Takes back into fork choice the blocks up to those with which a state was last stored, and the votes that had been counted
 * by then; tells how many. None of these blocks is executed again. What does not fit in is left out, as whatever came
 * later is.
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
    logger.warn("The stored votes cannot be read; those that blocks carry are counted anew", { error });
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
  for await (const { facts, ...position } of db.hotBlocks.entries()) {
    if (!counted.has(position.root) || facts.length === 0) continue;
    try {
      forkChoice.onTick(position.slot);
      forkChoice.onBlock(deserializeBlockFacts(facts, position), { timely: false });
      restored++;
    } catch (error) {
      logger.debug("A stored block cannot be taken back as it is", { root: position.root, error });
    }
  }
  return restored;
}
