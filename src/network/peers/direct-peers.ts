import { multiaddr } from "@multiformats/multiaddr";
import type { DialTarget } from "./dialer.ts";

interface DirectPeer {
  addresses: string[];
  peerId: string | undefined;
}

/** The peers that the operator asked for by their addresses. */
export class DirectPeers {
  readonly #peers: DirectPeer[] = [];

  /** Several addresses of one peer are tried together. */
  constructor(addresses: readonly string[]) {
    for (const address of addresses) {
      const peerId = peerIdOf(address);
      const known = peerId === undefined ? undefined : this.#peers.find((peer) => peer.peerId === peerId);
      if (known) known.addresses.push(address);
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

  /** Notes who answered where only an address was known. */
  identify(addresses: readonly string[], peerId: string): void {
    const peer = this.#peers.find((candidate) => candidate.addresses === addresses);
    if (peer) peer.peerId = peerId;
  }

  /** The address is our own. */
  remove(addresses: readonly string[]): void {
    const index = this.#peers.findIndex((candidate) => candidate.addresses === addresses);
    if (index >= 0) this.#peers.splice(index, 1);
  }
}

/** The id at the end of a multiaddress. */
function peerIdOf(address: string): string | undefined {
  return multiaddr(address)
    .getComponents()
    .findLast(({ name }) => name === "p2p")?.value;
}
