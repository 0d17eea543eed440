import type { fulu } from "@lodestar/types";
import type { BeaconRequests } from "../reqresp/interface.ts";
import type { PeerReporter } from "./peer-scores.ts";

export interface SyncPeer {
  /** In base58btc. */
  peerId: string;
  /** What it told last about its chain. */
  status: fulu.Status;
  /** The columns that it keeps and serves, by its id and what it tells, in ascending order. */
  columns: readonly number[];
  /** Below zero for what it did wrong. */
  score: number;
}

type SyncRequests = Pick<
  BeaconRequests,
  | "blocksByRange"
  | "blocksByRoot"
  | "blobSidecarsByRange"
  | "blobSidecarsByRoot"
  | "columnSidecarsByRange"
  | "columnSidecarsByRoot"
>;

/** What syncing needs of the network. Failed requests are `RequestError`s; the network itself penalizes peers for those. */
export interface SyncPeers extends SyncRequests, PeerReporter {
  /** Connected peers of our chain whose status is known. */
  list(): SyncPeer[];
  /** Calls the listener when a peer is there, told a new status, or is gone. Returns the function that ends it. */
  onChange(listener: () => void): () => void;
  /** Asks a peer for its status anew. */
  refreshStatus(peerId: string): void;
}
