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
