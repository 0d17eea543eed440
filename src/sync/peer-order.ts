import type { SyncPeer, SyncPeers } from "../network/peers/sync-peers.ts";

/**
 * Returns the peers that have not been tried: by score, then those that referred to the object, then those with the
 * furthest head.
 */
export function orderedPeers(
  peers: Pick<SyncPeers, "list">,
  tried: ReadonlySet<string>,
  referrers: ReadonlySet<string>,
): SyncPeer[] {
  return peers
    .list()
    .filter(({ peerId }) => !tried.has(peerId))
    .sort(
      (a, b) =>
        b.score - a.score ||
        Number(referrers.has(b.peerId)) - Number(referrers.has(a.peerId)) ||
        b.status.headSlot - a.status.headSlot,
    );
}
