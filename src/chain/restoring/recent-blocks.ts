import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { RootHex } from "@lodestar/types";
import { fromHex, toHex } from "@lodestar/utils";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { Logger } from "../../log/logger.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { RecentBlock } from "../fork-choice/head/recent-blocks.ts";
import type { PayloadQueue } from "../payloads/payload-queue.ts";
import type { StateStore } from "../states/state-store.ts";

interface RecentBlocksParts {
  db: BeaconDb;
  forkChoice: ForkChoice;
  payloadQueue: Pick<PayloadQueue, "capture" | "restore">;
}

interface RestoreParts extends RecentBlocksParts {
  blocks: Pick<BlockStore, "signedByRoot">;
  states: Pick<StateStore, "cached">;
  logger: Logger;
}

/** JSON of the database. */
interface StoredRecentBlocks {
  blocks: (Omit<RecentBlock, "payloadVotes"> & { payloadVotes?: string })[];
  payloads: ReturnType<PayloadQueue["capture"]>;
}

/**
 * Stores what fork choice and the payload timeliness committee must remember about the blocks of the current and
 * previous slot: whether they and their payloads arrived in time, and the votes on payloads. A restart within the slot
 * takes it up; a crash loses it, like the votes in the pools.
 */
export async function storeRecentBlocks({ db, forkChoice, payloadQueue }: RecentBlocksParts): Promise<void> {
  const stored: StoredRecentBlocks = {
    blocks: forkChoice
      .recentBlocks()
      .map(({ payloadVotes, ...block }) => ({ ...block, ...(payloadVotes && { payloadVotes: toHex(payloadVotes) }) })),
    payloads: payloadQueue.capture(),
  };
  const batch = db.batch();
  batch.meta.putRecentBlocks(stored);
  await batch.write();
}

/** Restores the facts about recent blocks, after fork choice has reached the current slot. */
export async function restoreRecentBlocks(parts: RestoreParts): Promise<void> {
  const { forkChoice, payloadQueue, blocks, states } = parts;
  const stored = await readStored(parts);
  for (const { root, slot, isBoosted } of forkChoice.recentBlocks()) {
    const signed = await blocks.signedByRoot(root);
    if (signed?.message.slot !== slot) continue;
    forkChoice.restoreRecent(stored.blocks.get(root) ?? { root, slot, isBoosted }, {
      proposerIndex: signed.message.proposerIndex,
      // Needed for the head, and for the parent of a block that was imported since.
      committees: () => states.cached(root)?.epochCtx.getShufflingAtSlot(slot).committees[slot % SLOTS_PER_EPOCH] ?? [],
    });
  }
  payloadQueue.restore(stored.payloads);
}

async function readStored({ db, forkChoice, logger }: RestoreParts): Promise<{
  blocks: ReadonlyMap<RootHex, RecentBlock>;
  payloads: StoredRecentBlocks["payloads"];
}> {
  try {
    const { blocks, payloads } = (await db.meta.getRecentBlocks<StoredRecentBlocks>()) ?? { blocks: [], payloads: [] };
    const read = blocks.map(({ payloadVotes, ...block }): [RootHex, RecentBlock] => [
      block.root,
      { ...block, payloadVotes: payloadVotes === undefined ? undefined : fromHex(payloadVotes) },
    ]);
    return { blocks: new Map(read), payloads: payloads.filter(([root]) => forkChoice.has(root)) };
  } catch (error) {
    logger.debug("Facts about recent blocks unreadable, continuing without them", { error });
    return { blocks: new Map(), payloads: [] };
  }
}
