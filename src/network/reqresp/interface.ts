import type { deneb, fulu, RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import type { ResponseChunk } from "./response-chunk.ts";

export interface BlockRange {
  startSlot: Slot;
  count: number;
}

/** A block and blocks before it. */
export interface BlockAncestry {
  root: RootHex;
  /** Of all of them. */
  count: number;
}

/** Sidecars of one block. */
export interface SidecarsOfBlock {
  root: RootHex;
  indices: readonly number[];
}

/** `peerId` is in base58btc. Every request has its own time limits; the signal ends it earlier. Failures are `RequestError`s. */
export interface BeaconRequests {
  /** Tells our status and asks for the peer's; before fulu the earliest available slot is 0. */
  status(peerId: string, signal?: AbortSignal): Promise<fulu.Status>;
  /** Says why we leave; never fails. */
  goodbye(peerId: string, reason: bigint): Promise<void>;
  /** Tells the number of our metadata and asks for that of the peer's. */
  ping(peerId: string, signal?: AbortSignal): Promise<bigint>;
  /** Of the newest shape; what the peer's version lacks is empty. */
  metadata(peerId: string, signal?: AbortSignal): Promise<fulu.Metadata>;
  /** Blocks of the range in ascending order, at most one a slot, each the child of the one before where they adjoin; else malformed. */
  blocksByRange(peerId: string, range: BlockRange, signal?: AbortSignal): Promise<SignedBeaconBlock[]>;
  /** Those of the blocks that the peer has; only blocks that were asked for, else malformed. */
  blocksByRoot(peerId: string, roots: readonly RootHex[], signal?: AbortSignal): Promise<SignedBeaconBlock[]>;
  /** The block and those before it, each the parent of the one before; else malformed. */
  blocksByHead(peerId: string, ancestry: BlockAncestry, signal?: AbortSignal): Promise<SignedBeaconBlock[]>;
  /**
   * In the order of slots and indices, those of a slot of one block; else malformed. Each is also given to `onSidecar` when it
   * comes, so that a request that fails later brings something. The same holds for columns.
   */
  blobSidecarsByRange(
    peerId: string,
    range: BlockRange,
    signal?: AbortSignal,
    onSidecar?: (sidecar: deneb.BlobSidecar) => void,
  ): Promise<deneb.BlobSidecar[]>;
  /** Those that the peer has; only what was asked for, else malformed. The same holds for columns. */
  blobSidecarsByRoot(
    peerId: string,
    wanted: readonly SidecarsOfBlock[],
    signal?: AbortSignal,
  ): Promise<deneb.BlobSidecar[]>;
  columnSidecarsByRange(
    peerId: string,
    range: BlockRange,
    columns: readonly number[],
    signal?: AbortSignal,
    onSidecar?: (sidecar: fulu.DataColumnSidecar) => void,
  ): Promise<fulu.DataColumnSidecar[]>;
  columnSidecarsByRoot(
    peerId: string,
    wanted: readonly SidecarsOfBlock[],
    signal?: AbortSignal,
  ): Promise<fulu.DataColumnSidecar[]>;
}

/** A block as it goes over the wire, with the fork digest that stands before it from version 2 on. */
export interface BlockChunk {
  /** SSZ of the signed block. */
  bytes: Uint8Array;
  forkDigest: Uint8Array;
}

/** What this node answers to its peers. `peerId` is the asking peer, in base58btc. */
export interface RequestHandlers {
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
  /** In descending order of slots, each the parent of the one before. */
  blocksByHead(ancestry: BlockAncestry): AsyncIterable<BlockChunk>;
  /** Those of canonical blocks, in the order of slots and indices. The same holds for columns. */
  blobSidecarsByRange(range: BlockRange): AsyncIterable<ResponseChunk>;
  /** In the order of the request, without those that are not held. The same holds for columns. */
  blobSidecarsByRoot(wanted: readonly SidecarsOfBlock[]): AsyncIterable<ResponseChunk>;
  columnSidecarsByRange(range: BlockRange, columns: readonly number[]): AsyncIterable<ResponseChunk>;
  columnSidecarsByRoot(wanted: readonly SidecarsOfBlock[]): AsyncIterable<ResponseChunk>;
}
