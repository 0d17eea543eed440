import type { RootHex } from "@lodestar/types";
import type { PayloadVotes } from "../payloads/payload-votes.ts";
import { NO_NODE, type ProtoArray } from "../tree/proto-array.ts";
import type { BlockArrivals } from "./block-arrivals.ts";

/** What fork choice knows about a block of the current or previous slot, besides the block and the votes for it. */
export interface RecentBlock {
  readonly root: RootHex;
  readonly slot: number;
  /** See `BlockArrival`; undefined if unknown. */
  readonly timely?: boolean | undefined;
  readonly ptcTimely?: boolean | undefined;
  /** One byte for each position in the payload timeliness committee; undefined without votes. */
  readonly payloadVotes?: Uint8Array | undefined;
  /** True if the block has the proposer boost. */
  readonly isBoosted: boolean;
}

/** Who proposed a block and who may attest in its slot. */
export interface RestoredDuties {
  readonly proposerIndex: number;
  readonly committees: () => Iterable<ArrayLike<number>>;
}

interface RecentParts {
  tree: ProtoArray;
  arrivals: BlockArrivals;
  payloadVotes: PayloadVotes;
  currentSlot: number;
}

/** Returns what a restart within the slot needs to know. */
export function recentBlocks(
  { tree, arrivals, payloadVotes, currentSlot }: RecentParts,
  boostedRoot: RootHex | null,
): RecentBlock[] {
  const recent = tree.nodes.filter(({ block }) => block.slot + 1 >= currentSlot);
  return recent.map(({ block: { root, slot } }) => {
    const { timely, ptcTimely } = arrivals.get(root) ?? {};
    return { root, slot, timely, ptcTimely, payloadVotes: payloadVotes.get(root), isBoosted: root === boostedRoot };
  });
}

/** Adds what was lost in a restart to a block. Returns true if the block has the proposer boost again. */
export function restoreRecentBlock(
  { tree, arrivals, payloadVotes, currentSlot }: RecentParts,
  { root, slot, payloadVotes: votes, isBoosted, ...arrival }: RecentBlock,
  { proposerIndex, committees }: RestoredDuties,
): boolean {
  const index = tree.indexOf(root);
  if (index === NO_NODE || slot + 1 < currentSlot) return false;
  const node = tree.nodeAt(index);
  node.block = { ...node.block, proposerIndex };
  arrivals.record({ root, slot }, { ...arrival, committees }, currentSlot);
  if (votes) payloadVotes.set(root, votes);
  return isBoosted && slot === currentSlot;
}
