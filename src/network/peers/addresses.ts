import type { IdentifyResult } from "@libp2p/interface";
import type { Multiaddr } from "@multiformats/multiaddr";

const MAX_ADDRESSES = 8;

/** The address with the id at its end. */
export function withPeerId(address: string, peerId: string): string {
  return address.includes("/p2p/") ? address : `${address}/p2p/${peerId}`;
}

/** Where a peer says that it listens, as far as it makes sense to dial there. */
export function identifiedAddresses({ listenAddrs, connection, peerId }: IdentifyResult): string[] {
  const isNeighbour = isLoopback(connection.remoteAddr);
  return (
    listenAddrs
      .slice(0, MAX_ADDRESSES)
      // A remote peer's own machine is not ours, and its name must not make us dial ourselves.
      .filter((address) => isTcp(address) && (isNeighbour || !isLoopback(address)))
      .map((address) => withPeerId(address.toString(), peerId.toString()))
  );
}

function isTcp(address: Multiaddr): boolean {
  const [place, port, ...rest] = address.getComponents();
  const isPlace = place?.name === "ip4" || place?.name === "ip6";
  return isPlace && port?.name === "tcp" && rest.every(({ name }) => name === "p2p");
}

function isLoopback(address: Multiaddr): boolean {
  const [place] = address.getComponents();
  const value = place?.value ?? "";
  return value.startsWith("127.") || value === "::1" || value === "0.0.0.0" || value === "::" || value === "localhost";
}
