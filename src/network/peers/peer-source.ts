import type { BitArray } from "@chainsafe/ssz";

/** A node whose record was found, and which may be dialled. */
export interface FoundPeer {
  /** In base58btc. */
  peerId: string;
  /** Its signed record in text form. */
  enr: string;
  /** A multiaddress that ends in `/p2p/` and the id. */
  address: string;
  /** The subnets that its record claims, when it names any. */
  attnets?: BitArray;
  syncnets?: BitArray;
}

/** Finds peers on the network. */
export interface PeerSource {
  /** Returns the function that ends it. */
  onFound(listener: (found: FoundPeer) => void): () => void;
  /** Asks for a search soon; while one runs it asks for nothing. */
  search(): void;
}

/** The subnets that this node needs peers on. */
export interface SubnetNeeds {
  wantedAttestation(): ReadonlySet<number>;
  wantedSync(): ReadonlySet<number>;
}
