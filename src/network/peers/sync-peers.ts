import type { fulu, RootHex, SignedBeaconBlock } from "@lodestar/types";
import type { BlockRange } from "../reqresp/interface.ts";
import type { PeerReporter } from "./peer-scores.ts";

export interface SyncPeer {
  /** In base58btc. */
  peerId: string;
  /** What it told last about its chain. */
  status: fulu.Status;
  /** Below zero for what it did wrong. */
  score: number;
  /** The columns that it keeps, by its id and what it tells, in ascending order. */
  columns: readonly number[];
}

/** What syncing needs of the network. Failed requests are `RequestError`s; the network itself penalizes peers for those. */
export interface SyncPeers extends PeerReporter {
  /** Connected peers of our chain whose status is known. */
  list(): SyncPeer[];
  /** Calls the listener when a peer is there, told a new status, or is gone. Returns the function that ends it. */
  onChange(listener: () => void): () => void;
  /** Asks a peer for its status anew. */
  refreshStatus(peerId: string): void;
  blocksByRange(peerId: string, range: BlockRange, signal?: AbortSignal): Promise<SignedBeaconBlock[]>;
  blocksByRoot(peerId: string, roots: readonly RootHex[], signal?: AbortSignal): Promise<SignedBeaconBlock[]>;
}
