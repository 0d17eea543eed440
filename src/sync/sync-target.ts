import type { RootHex, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { SyncPeer } from "../network/peers/sync-peers.ts";

/** A head this little ahead of ours is on its way to us by gossip, or is fetched by root. */
export const LEVEL_SLOTS = 1;

/** `finalized` and `head`: what peers tell in their status. `branch`: the tip of a branch that was found by its blocks. */
export interface SyncTarget {
  kind: "finalized" | "head" | "branch";
  slot: Slot;
  root: RootHex;
  /** The peers that say to have it; they are asked first. */
  claimants: ReadonlySet<string>;
}

/** What we have. */
export interface SyncStanding {
  headSlot: Slot;
  finalizedEpoch: number;
  currentSlot: Slot;
  slotsPerEpoch: number;
  /** Whether the block is on a chain of ours. */
  has(root: RootHex): boolean;
  /** Whether the block was sought in vain a short while ago. */
  isDoubted(root: RootHex): boolean;
}

interface Claim {
  peerId: string;
  slot: Slot;
  root: RootHex;
}

/**
 * What to sync to next, if anything: what most peers hold to be final comes first, and only when that is ours the head
 * that most peers tell. A peer alone with its claim is heard last, so that a liar costs nobody but itself.
 */
export function chooseTarget(peers: readonly SyncPeer[], standing: SyncStanding): SyncTarget | null {
  const isWanted = ({ slot, root }: Claim) =>
    slot <= standing.currentSlot && !standing.has(root) && !standing.isDoubted(root);

  const finalized = peers
    .filter(({ status }) => status.finalizedEpoch > standing.finalizedEpoch)
    .map((peer) => finalizedClaim(peer, standing.slotsPerEpoch))
    .filter(isWanted);
  const final = largestGroup(finalized);
  if (final) {
    // Whoever finalized more has these blocks, too.
    const helpers = finalized.filter(({ slot }) => slot > final.slot).map(({ peerId }) => peerId);
    return { ...final, kind: "finalized", claimants: new Set([...final.claimants, ...helpers]) };
  }
  const heads = peers
    .map(headClaim)
    .filter(({ slot }) => slot > standing.headSlot + LEVEL_SLOTS)
    .filter(isWanted);
  const head = largestGroup(heads);
  return head && { ...head, kind: "head" };
}

export function headClaim({ peerId, status }: SyncPeer): Claim {
  return { peerId, slot: status.headSlot, root: toRootHex(status.headRoot) };
}

function finalizedClaim({ peerId, status }: SyncPeer, slotsPerEpoch: number): Claim {
  return { peerId, slot: status.finalizedEpoch * slotsPerEpoch, root: toRootHex(status.finalizedRoot) };
}

/** Of groups of the same size the one that is further. */
function largestGroup(claims: readonly Claim[]): Omit<SyncTarget, "kind"> | null {
  const groups = new Map<string, { slot: Slot; root: RootHex; claimants: Set<string> }>();
  for (const { peerId, slot, root } of claims) {
    const key = `${slot}:${root}`;
    const group = groups.get(key) ?? { slot, root, claimants: new Set() };
    groups.set(key, group);
    group.claimants.add(peerId);
  }
  const ordered = [...groups.values()].sort((a, b) => b.claimants.size - a.claimants.size || b.slot - a.slot);
  return ordered[0] ?? null;
}
