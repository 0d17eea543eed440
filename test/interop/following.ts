import { expect } from "vitest";
import { type BeaconRest, type Head, until } from "./beacon-rest.ts";
import type { RequestCounts } from "./lodestar-beacon.ts";

export const SLOTS_PER_EPOCH = 8;
/** Epochs during which a node must follow another by gossip. */
const FOLLOWED_EPOCHS = 5;
/** Minimum advance of finality. On a busy machine late attestations may delay it. */
const FINALIZED_EPOCHS = 2;
/** Slots between the end of the sync and the first counted slot: earlier requests may still be pending. */
const SETTLING_SLOTS = 2;

/** Block requests, which a node that follows gossip does not need. */
const BLOCK_REQUESTS = ["beacon_blocks_by_range", "beacon_blocks_by_root"] as const;

export const blockRequests = (counts: RequestCounts) =>
  Object.fromEntries(BLOCK_REQUESTS.map((method) => [method, counts[method] ?? 0]));

/** Slots during which one node followed another by gossip. */
interface Followed {
  first: number;
  last: number;
}

interface Following {
  leader: BeaconRest;
  follower: BeaconRest;
  /** Number of block requests of the follower. */
  blockRequests: () => Promise<Record<string, number>>;
  /** A slot that must be passed, however early it started. */
  pastSlot?: number;
}

/**
 * Waits until the follower has synced by requests, then lets it follow by gossip only. Both must have the same blocks,
 * and finality must advance.
 */
export async function follow({ leader, follower, blockRequests, pastSlot = 0 }: Following): Promise<Followed> {
  const level = await untilLevel(follower, leader);
  const { slot: first } = await follower.untilHead(level.slot + SETTLING_SLOTS);
  const requested = await blockRequests();
  expect(requested.beacon_blocks_by_range).toBeGreaterThan(0);
  const finalizedBefore = Number((await follower.finalized()).epoch);

  const head = await follower.untilHead(Math.max(first + FOLLOWED_EPOCHS * SLOTS_PER_EPOCH, pastSlot + 1));
  expect(await blockRequests()).toEqual(requested);
  // A root commits to its whole chain.
  const slots = await leader.canonicalSlots(head.root, first);
  expect(await follower.canonicalSlots(head.root, first)).toEqual(slots);
  // A busy machine may miss a slot, but not every second one.
  expect(slots.length).toBeGreaterThan((head.slot - first) / 2);

  const finalized = await until(
    () => follower.finalized(),
    async (ours) => ours.root === (await leader.finalized()).root,
  );
  expect(Number(finalized.epoch)).toBeGreaterThanOrEqual(finalizedBefore + FINALIZED_EPOCHS);
  return { first, last: head.slot };
}

/** Waits until both have the same head. */
export function untilLevel(follower: BeaconRest, leader: BeaconRest): Promise<Head> {
  return until(
    () => leader.head(),
    async ({ root }) => root === (await follower.findHead())?.root,
  );
}
