export interface NetworkingOptions {
  /** The IP address to listen on. */
  address: string;
  /** For TCP, and for UDP when there is discovery; 0 for any free one. */
  port: number;
  discovery: boolean;
  /** Records (ENR) in their text form. */
  bootnodes: readonly string[];
  /** Reads records that may be there later than the start; asked before a search for as long as no node is known. */
  readBootnodes?(): readonly string[];
  /** Multiaddresses that end in a peer id. */
  directPeers: readonly string[];
  targetPeers: number;
  /** Whether the node keeps all columns, and not only its share of them. */
  supernode?: boolean;
}

/** Where others reach this node. */
export interface ListeningAddresses {
  /** Multiaddresses that end in the node's id. */
  readonly p2p: readonly string[];
  /** The node's signed record in its text form. */
  readonly enr: string;
}

/** Where a node can be reached. */
export interface NodeAddresses {
  /** The address that others should use; one that stands for all addresses is told to nobody. */
  ip: string;
  tcp: number;
  /** Undefined without discovery. */
  udp?: number;
  /** Multiaddresses that end in the peer id. */
  p2pAddresses: readonly string[];
  discoveryAddresses: readonly string[];
}

/** Whether the IP address is all zeros, in whatever spelling: to listen there is to listen on every address. */
export function standsForAll(ip: string): boolean {
  return /^[0.:]+$/.test(ip);
}
