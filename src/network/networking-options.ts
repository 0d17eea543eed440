export interface NetworkingOptions {
  /** The IP address to listen on. */
  address: string;
  /** For TCP, and for UDP when there is discovery; 0 for any free one. */
  port: number;
  discovery: boolean;
  /** Records (ENR) in their text form. */
  bootnodes: readonly string[];
  /** Multiaddresses that end in a peer id. */
  directPeers: readonly string[];
  targetPeers: number;
}

/** Where others reach this node. */
export interface ListeningAddresses {
  /** Multiaddresses that end in the node's id. */
  readonly p2p: readonly string[];
  /** The node's signed record in its text form. */
  readonly enr: string;
}
