import type { Peer, PeerCounts } from "./network-view.ts";
import type { KnownPeer, KnownPeers } from "./peers/known-peers.ts";
import type { PeerScores } from "./peers/peer-scores.ts";

interface PeersViewParts {
  known: Pick<KnownPeers, "get" | "values">;
  scores: Pick<PeerScores, "score">;
}

/** Peer states for the API. */
export class PeersView {
  readonly #known: PeersViewParts["known"];
  readonly #scores: PeersViewParts["scores"];

  constructor({ known, scores }: PeersViewParts) {
    this.#known = known;
    this.#scores = scores;
  }

  peers(): Peer[] {
    return Array.from(this.#known.values(), (peer) => this.#describe(peer));
  }

  /** Returns a peer. `peerId` is in base58btc. */
  peer(peerId: string): Peer | undefined {
    const peer = this.#known.get(peerId);
    return peer && this.#describe(peer);
  }

  peerCounts(): PeerCounts {
    const counts: PeerCounts = { disconnected: 0, connecting: 0, connected: 0, disconnecting: 0 };
    for (const { state } of this.#known.values()) counts[state]++;
    return counts;
  }

  #describe(peer: KnownPeer): Peer {
    const { id, enr, state, direction, lastSeenAddress, protocols, protocolVersion, agentVersion } = peer;
    const addresses = new Set(peer.addresses);
    if (lastSeenAddress !== "") addresses.add(lastSeenAddress);
    return {
      peerId: id,
      enr,
      // A peer that has never been connected is listed with its advertised address.
      lastSeenP2pAddress: lastSeenAddress || [...addresses].at(-1) || "",
      state,
      direction,
      addresses: [...addresses],
      protocols: [...protocols],
      protocolVersion,
      agentVersion,
      score: this.#scores.score(id),
    };
  }
}
