import { multiaddr } from "@multiformats/multiaddr";
import type { DialTarget } from "./dialer.ts";

interface DirectPeer {
  addresses: string[];
  peerId: string | undefined;
}

/** Peers configured by the operator. */
export class DirectPeers {
  readonly #peers: DirectPeer[] = [];

  /** Groups the addresses by peer id. All of a peer's addresses are dialed together. */
  constructor(addresses: readonly string[]) {
    for (const address of addresses) {
      const peerId = peerIdOf(address);
      const existing = peerId === undefined ? undefined : this.#peers.find((peer) => peer.peerId === peerId);
      if (existing) existing.addresses.push(address);
      else this.#peers.push({ addresses: [address], peerId });
    }
  }

  has(peerId: string): boolean {
    return this.#peers.some((peer) => peer.peerId === peerId);
  }

  targets(): { target: DialTarget; peerId: string | undefined }[] {
    return this.#peers.map(({ addresses, peerId }) => ({
      target: { key: peerId ?? addresses.join(" "), addresses },
      peerId,
    }));
  }

  /** Stores the id of a peer that answered at an address without a peer id. */
  identify(addresses: readonly string[], peerId: string): void {
    const peer = this.#peers.find((candidate) => candidate.addresses === addresses);
    if (peer) peer.peerId = peerId;
  }

  /** Removes an entry that points to this node. */
  remove(addresses: readonly string[]): void {
    const index = this.#peers.findIndex((candidate) => candidate.addresses === addresses);
    if (index >= 0) this.#peers.splice(index, 1);
  }
}

/** Returns the peer id at the end of a multiaddr. */
function peerIdOf(address: string): string | undefined {
  return multiaddr(address)
    .getComponents()
    .findLast(({ name }) => name === "p2p")?.value;
}
