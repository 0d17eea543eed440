import type { fulu, SignedBeaconBlock } from "@lodestar/types";
import type { BeaconRequests, BlockAncestry } from "../reqresp/interface.ts";
import type { PeerReporter } from "./peer-scores.ts";

export interface SyncPeer {
  /** In base58btc. */
  peerId: string;
  /** The peer's latest status. */
  status: fulu.Status;
  /** Custody columns in ascending order. */
  columns: readonly number[];
  /** Negative after misbehaviour. */
  score: number;
}

export type SyncRequests = Pick<
  BeaconRequests,
  | "blocksByRange"
  | "blocksByRoot"
  | "blobSidecarsByRange"
  | "blobSidecarsByRoot"
  | "columnSidecarsByRange"
  | "columnSidecarsByRoot"
  | "payloadsByRange"
  | "payloadsByRoot"
>;

/** The network as seen by the sync. */
export interface SyncPeers extends PeerReporter {
  /** Failed requests reject with a `RequestError` and have already been penalized. */
  readonly requests: SyncRequests;
  /**
   * Returns the block and its ancestors in descending order if the peer supports BeaconBlocksByHead, or only the block
   * otherwise.
   */
  blockWithAncestors(peerId: string, ancestry: BlockAncestry, signal?: AbortSignal): Promise<SignedBeaconBlock[]>;
  /** Returns the connected peers on our chain whose status is known. */
  list(): SyncPeer[];
  /** Calls the listener when a peer connects, updates its status, or disconnects. Returns an unsubscribe function. */
  onChange(listener: () => void): () => void;
  /** Requests the peer's status again. */
  refreshStatus(peerId: string): void;
}
