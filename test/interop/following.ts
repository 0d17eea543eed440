import { expect } from "vitest";
import { type BeaconRest, type Head, until } from "./beacon-rest.ts";
import type { RequestCounts } from "./lodestar-beacon.ts";

export const SLOTS_PER_EPOCH = 8;
/** How long a node has to follow another by gossip. */
const FOLLOWED_EPOCHS = 5;
/** By how much finality must have moved meanwhile; on a busy machine attestations may come too late to move it every epoch. */
const FINALIZED_EPOCHS = 2;
/** Between the end of the sync and the first slot that counts: what was asked for before may still be on its way. */
const SETTLING_SLOTS = 2;

/** What asks for blocks, and is not needed by whoever gets them by gossip. */
const BLOCK_REQUESTS = ["beacon_blocks_by_range", "beacon_blocks_by_root"] as const;

export const blockRequests = (counts: RequestCounts) =>
  Object.fromEntries(BLOCK_REQUESTS.map((method) => [method, counts[method] ?? 0]));

/** The slots between which one node followed another by gossip. */
interface Followed {
  first: number;
  last: number;
}

interface Following {
  leader: BeaconRest;
  follower: BeaconRest;
  /** How many requests for blocks the follower has made. */
  blockRequests: () => Promise<Record<string, number>>;
  /** A slot that has to be passed meanwhile, however early the following began. */
  pastSlot?: number;
}

/**
 * Waits until the follower is level with the leader by having asked for blocks, and then lets it follow without asking: both
 * must have the same blocks all the way, and finality has to move with them.
 */
export async function follow({ leader, follower, blockRequests, pastSlot = 0 }: Following): Promise<Followed> {
  const level = await untilLevel(follower, leader);
  const { slot: first } = await follower.untilHead(level.slot + SETTLING_SLOTS);
  const requested = await blockRequests();
  expect(requested.beacon_blocks_by_range).toBeGreaterThan(0);
  const finalizedBefore = Number((await follower.finalized()).epoch);

  const head = await follower.untilHead(Math.max(first + FOLLOWED_EPOCHS * SLOTS_PER_EPOCH, pastSlot + 1));
  expect(await blockRequests()).toEqual(requested);
  // Blocks name those before them, so that one root is that of a whole chain.
  const slots = await leader.canonicalSlots(head.root, first);
  expect(await follower.canonicalSlots(head.root, first)).toEqual(slots);
  // A busy machine may miss a slot, but not every other.
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
