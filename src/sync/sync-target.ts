import type { RootHex, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { SyncPeer } from "../network/peers/sync-peers.ts";

/** A head at most this far ahead arrives by gossip or is looked up by root. */
export const LEVEL_SLOTS = 1;

/**
 * A block to sync to. `finalized` and `head` come from peers' statuses. `branch` is the tip of a branch discovered
 * through its blocks.
 */
export interface SyncTarget {
  kind: "finalized" | "head" | "branch";
  slot: Slot;
  root: RootHex;
  /** Peers that claim to have the block. These peers are preferred. */
  claimants: ReadonlySet<string>;
}

/** State of our chain. */
export interface ChainPosition {
  headSlot: Slot;
  finalizedEpoch: number;
  currentSlot: Slot;
  slotsPerEpoch: number;
  /** Returns true if the block is known. */
  has(root: RootHex): boolean;
  /** Returns true if the target is in backoff. */
  isInBackoff(root: RootHex): boolean;
}

interface Claim {
  peerId: string;
  slot: Slot;
  root: RootHex;
}

/**
 * Selects the next target: the finalized checkpoint with the most claimants, or otherwise the head with the most
 * claimants.
 */
export function selectTarget(peers: readonly SyncPeer[], position: ChainPosition): SyncTarget | null {
  const isWanted = ({ slot, root }: Claim) =>
    slot <= position.currentSlot && !position.has(root) && !position.isInBackoff(root);

  const finalized = peers
    .filter(({ status }) => status.finalizedEpoch > position.finalizedEpoch)
    .map((peer) => finalizedClaim(peer, position.slotsPerEpoch))
    .filter(isWanted);
  const final = largestGroup(finalized);
  if (final) {
    // Peers with a later finalized checkpoint have these blocks as well.
    const helpers = finalized.filter(({ slot }) => slot > final.slot).map(({ peerId }) => peerId);
    return { ...final, kind: "finalized", claimants: new Set([...final.claimants, ...helpers]) };
  }
  const heads = peers
    .map(headClaim)
    .filter(({ slot }) => slot > position.headSlot + LEVEL_SLOTS)
    .filter(isWanted);
  const head = largestGroup(heads);
  return head && { ...head, kind: "head" };
}

/** Returns the head that a peer's status claims. */
export function headClaim({ peerId, status }: SyncPeer): Claim {
  return { peerId, slot: status.headSlot, root: toRootHex(status.headRoot) };
}

function finalizedClaim({ peerId, status }: SyncPeer, slotsPerEpoch: number): Claim {
  return { peerId, slot: status.finalizedEpoch * slotsPerEpoch, root: toRootHex(status.finalizedRoot) };
}

/** Returns the claim made by the most peers, and the latest one if there is a tie. */
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
