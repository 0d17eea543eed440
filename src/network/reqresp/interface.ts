import type { deneb, fulu, RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import type { ResponseChunk } from "./response-chunk.ts";

export interface BlockRange {
  startSlot: Slot;
  count: number;
}

/** Requests a block and its ancestors. */
export interface BlockAncestry {
  root: RootHex;
  /** Number of blocks, including the first. */
  count: number;
}

/** Identifies sidecars of one block. */
export interface SidecarIdentifiers {
  root: RootHex;
  indices: readonly number[];
}

/**
 * Outbound requests. `peerId` is in base58btc. Every request has its own timeouts; the signal aborts it earlier.
 * Rejects with a `RequestError`.
 */
export interface BeaconRequests {
  /** Exchanges the status. `earliestAvailableSlot` is 0 before fulu. */
  status(peerId: string, signal?: AbortSignal): Promise<fulu.Status>;
  /** Sends a goodbye. Never rejects. */
  goodbye(peerId: string, reason: bigint): Promise<void>;
  /** Exchanges the metadata sequence numbers. */
  ping(peerId: string, signal?: AbortSignal): Promise<bigint>;
  /** In the newest format. Fields that the peer's version lacks have default values. */
  metadata(peerId: string, signal?: AbortSignal): Promise<fulu.Metadata>;
  /** Returns the blocks of the range in ascending order, forming a chain. Other responses are malformed. */
  blocksByRange(peerId: string, range: BlockRange, signal?: AbortSignal): Promise<SignedBeaconBlock[]>;
  /** Returns the requested blocks that the peer has. Other blocks are malformed. */
  blocksByRoot(peerId: string, roots: readonly RootHex[], signal?: AbortSignal): Promise<SignedBeaconBlock[]>;
  /** Returns the block and its ancestors in descending order. Other responses are malformed. */
  blocksByHead(peerId: string, ancestry: BlockAncestry, signal?: AbortSignal): Promise<SignedBeaconBlock[]>;
  /**
   * Returns the sidecars ordered by slot and index. All sidecars of a slot belong to one block. `onSidecar` receives
   * each sidecar on arrival, so that a request which fails later is not lost completely. The same applies to columns.
   */
  blobSidecarsByRange(
    peerId: string,
    range: BlockRange,
    signal?: AbortSignal,
    onSidecar?: (sidecar: deneb.BlobSidecar) => void,
  ): Promise<deneb.BlobSidecar[]>;
  /** Returns the requested sidecars that the peer has. Other sidecars are malformed. The same applies to columns. */
  blobSidecarsByRoot(
    peerId: string,
    requested: readonly SidecarIdentifiers[],
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
    requested: readonly SidecarIdentifiers[],
    signal?: AbortSignal,
  ): Promise<fulu.DataColumnSidecar[]>;
}

/** A serialized block with the fork digest that precedes it since version 2. */
export interface BlockChunk {
  /** SSZ of the signed block. */
  bytes: Uint8Array;
  forkDigest: Uint8Array;
}

/** Inbound requests. `peerId` is the requesting peer in base58btc. */
export interface RequestHandlers {
  status(): fulu.Status;
  metadata(): fulu.Metadata;
  /** Called with the status of a peer's request. */
  onStatus(peerId: string, status: fulu.Status): void;
  onPing(peerId: string, metadataSeq: bigint): void;
  onGoodbye(peerId: string, reason: bigint): void;
  /** Canonical blocks in ascending order. */
  blocksByRange(range: BlockRange): AsyncIterable<BlockChunk>;
  /** In the order of the roots, without missing blocks. */
  blocksByRoot(roots: readonly Uint8Array[]): AsyncIterable<BlockChunk>;
  /** In descending order, each the parent of the preceding block. */
  blocksByHead(ancestry: BlockAncestry): AsyncIterable<BlockChunk>;
  /** Sidecars of canonical blocks, ordered by slot and index. The same applies to columns. */
  blobSidecarsByRange(range: BlockRange): AsyncIterable<ResponseChunk>;
  /** In the order of the request, without missing sidecars. The same applies to columns. */
  blobSidecarsByRoot(identifiers: readonly SidecarIdentifiers[]): AsyncIterable<ResponseChunk>;
  columnSidecarsByRange(range: BlockRange, columns: readonly number[]): AsyncIterable<ResponseChunk>;
  columnSidecarsByRoot(identifiers: readonly SidecarIdentifiers[]): AsyncIterable<ResponseChunk>;
}
