import type { fulu } from "@lodestar/types";
import type { BlockRange } from "./beacon-requests.ts";

/** A block as it goes over the wire, with the fork digest that stands before it from version 2 on. */
export interface BlockChunk {
  /** SSZ of the signed block. */
  bytes: Uint8Array;
  forkDigest: Uint8Array;
}

/** What this node answers to its peers. `peerId` is the asking peer, in base58btc. */
export interface BeaconAnswers {
  status(): fulu.Status;
  metadata(): fulu.Metadata;
  /** A peer told its status, of its own accord or in answer to ours. */
  onStatus(peerId: string, status: fulu.Status): void;
  onPing(peerId: string, metadataSeq: bigint): void;
  onGoodbye(peerId: string, reason: bigint): void;
  /** In ascending order of slots, canonical blocks only. */
  blocksByRange(range: BlockRange): AsyncIterable<BlockChunk>;
  /** In the order of the roots, without those that are not held. */
  blocksByRoot(roots: readonly Uint8Array[]): AsyncIterable<BlockChunk>;
}
