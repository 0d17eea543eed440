import type { deneb, fulu, gloas, RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import type { ColumnSidecar } from "../../data/sidecar.ts";
import type { ResponseChunk } from "./response-chunk.ts";

export interface BlockRange {
  startSlot: Slot;
  count: number;
}

/** A request for a block and its ancestors. */
export interface BlockAncestry {
  root: RootHex;
  /** Number of blocks, including the first one. */
  count: number;
}

/** Identifies some sidecars of a block. */
export interface SidecarIdentifiers {
  root: RootHex;
  indices: readonly number[];
}

/**
 * Outbound requests. `peerId` is in base58btc. Each request has its own timeouts and can be aborted earlier with the
 * signal. Rejects with a `RequestError`.
 */
export interface BeaconRequests {
  /** Exchanges statuses. `earliestAvailableSlot` is 0 before fulu. */
  status(peerId: string, signal?: AbortSignal): Promise<fulu.Status>;
  /** Sends a goodbye. Never rejects. */
  goodbye(peerId: string, reason: bigint): Promise<void>;
  /** Exchanges metadata sequence numbers. */
  ping(peerId: string, signal?: AbortSignal): Promise<bigint>;
  /** Returns the peer's metadata in the newest format. Fields missing from the peer's version have default values. */
  metadata(peerId: string, signal?: AbortSignal): Promise<fulu.Metadata>;
  /** Returns the blocks in the range in ascending order. If they do not form a chain, the response is malformed. */
  blocksByRange(peerId: string, range: BlockRange, signal?: AbortSignal): Promise<SignedBeaconBlock[]>;
  /** Returns the requested blocks that the peer has. A response that contains any other block is malformed. */
  blocksByRoot(peerId: string, roots: readonly RootHex[], signal?: AbortSignal): Promise<SignedBeaconBlock[]>;
  /** Returns the block and its ancestors in descending order. Any other response is malformed. */
  blocksByHead(peerId: string, ancestry: BlockAncestry, signal?: AbortSignal): Promise<SignedBeaconBlock[]>;
  /**
   * Returns the sidecars sorted by slot and index. All sidecars for a slot belong to the same block. `onSidecar`
   * receives each sidecar on arrival, so that the sidecars are not lost if the request fails later. The same applies to
   * columns.
   */
  blobSidecarsByRange(
    peerId: string,
    range: BlockRange,
    signal?: AbortSignal,
    onSidecar?: (sidecar: deneb.BlobSidecar) => void,
  ): Promise<deneb.BlobSidecar[]>;
  /**
   * Returns the requested sidecars that the peer has. A response that contains any other sidecar is malformed. The same
   * applies to columns.
   */
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
    onSidecar?: (sidecar: ColumnSidecar) => void,
  ): Promise<ColumnSidecar[]>;
  columnSidecarsByRoot(
    peerId: string,
    requested: readonly SidecarIdentifiers[],
    signal?: AbortSignal,
  ): Promise<ColumnSidecar[]>;
  /** Returns the payloads of the peer's canonical blocks in the range in ascending order. */
  payloadsByRange(
    peerId: string,
    range: BlockRange,
    signal?: AbortSignal,
  ): Promise<gloas.SignedExecutionPayloadEnvelope[]>;
  /** Returns the payloads of the requested blocks that the peer has. */
  payloadsByRoot(
    peerId: string,
    roots: readonly RootHex[],
    signal?: AbortSignal,
  ): Promise<gloas.SignedExecutionPayloadEnvelope[]>;
}

/** A serialized block and, since version 2, the fork digest that precedes it. */
export interface BlockChunk {
  /** The signed block as SSZ. */
  bytes: Uint8Array;
  forkDigest: Uint8Array;
}

/** Handles inbound requests. `peerId` is the requesting peer in base58btc. */
export interface RequestHandlers {
  status(): fulu.Status;
  metadata(): fulu.Metadata;
  /** Called with the status that a peer sent in a request. */
  onStatus(peerId: string, status: fulu.Status): void;
  onPing(peerId: string, metadataSeq: bigint): void;
  onGoodbye(peerId: string, reason: bigint): void;
  /** Returns canonical blocks in ascending order. */
  blocksByRange(range: BlockRange): AsyncIterable<BlockChunk>;
  /** Returns blocks in the order of the roots, leaving out missing ones. */
  blocksByRoot(roots: readonly Uint8Array[]): AsyncIterable<BlockChunk>;
  /** Returns blocks in descending order, each the parent of the one before it. */
  blocksByHead(ancestry: BlockAncestry): AsyncIterable<BlockChunk>;
  /** Returns sidecars of canonical blocks, sorted by slot and index. The same applies to columns. */
  blobSidecarsByRange(range: BlockRange): AsyncIterable<ResponseChunk>;
  /** Returns sidecars in the order of the request, leaving out missing ones. The same applies to columns. */
  blobSidecarsByRoot(identifiers: readonly SidecarIdentifiers[]): AsyncIterable<ResponseChunk>;
  columnSidecarsByRange(range: BlockRange, columns: readonly number[]): AsyncIterable<ResponseChunk>;
  columnSidecarsByRoot(identifiers: readonly SidecarIdentifiers[]): AsyncIterable<ResponseChunk>;
  /** Returns the payloads of canonical blocks in ascending order. */
  payloadsByRange(range: BlockRange): AsyncIterable<ResponseChunk>;
  /** Returns payloads in the order of the block roots, leaving out missing ones. */
  payloadsByRoot(roots: readonly Uint8Array[]): AsyncIterable<ResponseChunk>;
}
