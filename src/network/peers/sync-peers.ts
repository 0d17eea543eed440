import type { fulu, SignedBeaconBlock } from "@lodestar/types";
import type { BeaconRequests, BlockAncestry } from "../reqresp/interface.ts";
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
  /** The block and those before it, in descending order, from a peer that gives them at once; from others the block alone. */
  blockWithAncestors(peerId: string, ancestry: BlockAncestry, signal?: AbortSignal): Promise<SignedBeaconBlock[]>;
  /** Connected peers of our chain whose status is known. */
  list(): SyncPeer[];
  /** Calls the listener when a peer is there, told a new status, or is gone. Returns the function that ends it. */
  onChange(listener: () => void): () => void;
  /** Asks a peer for its status anew. */
  refreshStatus(peerId: string): void;
}
