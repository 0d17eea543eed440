/** Settings of the network. */
export interface NetworkSettings {
  /** The IP address to listen on. */
  address: string;
  /** TCP port, and UDP port with discovery. 0 picks a free port. */
  port: number;
  discovery: boolean;
  /** ENRs in text form. */
  bootnodes: readonly string[];
  /** Rereads the bootnodes before each lookup as long as no node is known. */
  readBootnodes?(): readonly string[];
  /** Multiaddrs that end with a peer id. */
  directPeers: readonly string[];
  targetPeers: number;
  /** Custodies all columns instead of the required minimum. */
  supernode: boolean;
}

/** Addresses that this node listens on. */
export interface ListeningAddresses {
  /** Multiaddrs that end with the node's peer id. */
  readonly p2p: readonly string[];
  /** The signed ENR in text form. */
  readonly enr: string;
}

/** Addresses at which a node can be reached. */
export interface NodeAddresses {
  /** The advertised address. An unspecified address is not advertised. */
  ip: string;
  tcp: number;
  /** Undefined without discovery. */
  udp?: number;
  /** Multiaddrs that end with the peer id. */
  p2pAddresses: readonly string[];
  discoveryAddresses: readonly string[];
}

/** Returns true for the unspecified address (`0.0.0.0` or `::`, in any notation). */
export function isUnspecifiedAddress(ip: string): boolean {
  return /^[0.:]+$/.test(ip);
}
