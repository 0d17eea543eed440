/** Network settings. */
export interface NetworkSettings {
  /** The IP address to listen on. */
  address: string;
  /** TCP port, which is also the UDP port for discovery. 0 picks a free port. */
  port: number;
  discovery: boolean;
  /** ENRs as text. */
  bootnodes: readonly string[];
  /** Reads the bootnodes again before each lookup while no node is known. */
  readBootnodes?(): readonly string[];
  /** Multiaddrs, each ending with a peer id. */
  directPeers: readonly string[];
  targetPeers: number;
  /** Custodies all columns instead of the required minimum. */
  supernode: boolean;
}

/** Addresses on which this node listens. */
export interface ListeningAddresses {
  /** Multiaddrs, each ending with the node's peer id. */
  readonly p2p: readonly string[];
  /** The signed ENR as text. */
  readonly enr: string;
}

/** Addresses at which a node can be reached. */
export interface NodeAddresses {
  /** The advertised address. An unspecified address is not advertised. */
  ip: string;
  tcp: number;
  /** Undefined if discovery is disabled. */
  udp?: number;
  /** Multiaddrs, each ending with the peer id. */
  p2pAddresses: readonly string[];
  discoveryAddresses: readonly string[];
}

/** Returns true for the unspecified address (`0.0.0.0` or `::`, in any notation). */
export function isUnspecifiedAddress(ip: string): boolean {
  return /^[0.:]+$/.test(ip);
}
