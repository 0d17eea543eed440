export interface CellsAndProofs {
  cells: Uint8Array[];
  proofs: Uint8Array[];
}

/**
 * The polynomial commitments of deneb and fulu. Bytes that are no point or no field element make what is to be verified wrong, and
 * what is to be computed fail.
 */
export interface Kzg {
  commitmentOf(blob: Uint8Array): Promise<Uint8Array>;
  blobProofOf(blob: Uint8Array, commitment: Uint8Array): Promise<Uint8Array>;
  verifyBlobs(batch: BlobBatch): Promise<boolean>;
  cellsOf(blob: Uint8Array): Promise<Uint8Array[]>;
  cellsAndProofsOf(blob: Uint8Array): Promise<CellsAndProofs>;
  verifyCells(batch: CellBatch): Promise<boolean>;
  /** All cells of a blob, from at least half of them. */
  recover(cellIndices: readonly number[], cells: readonly Uint8Array[]): Promise<CellsAndProofs>;
  /** Reads the trusted setup, which takes seconds, before anybody waits for it. */
  prepare(): void;
  close(): Promise<void>;
}

/** As many of each. */
export interface BlobBatch {
  blobs: readonly Uint8Array[];
  commitments: readonly Uint8Array[];
  proofs: readonly Uint8Array[];
}

/** As many of each: every cell with the commitment of its blob. */
export interface CellBatch {
  commitments: readonly Uint8Array[];
  cellIndices: readonly number[];
  cells: readonly Uint8Array[];
  proofs: readonly Uint8Array[];
}
