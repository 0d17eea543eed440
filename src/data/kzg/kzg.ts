export interface CellsAndProofs {
  cells: Uint8Array[];
  proofs: Uint8Array[];
}

/**
 * KZG operations introduced in Deneb and Fulu (deneb/polynomial-commitments.md,
 * fulu/polynomial-commitments-sampling.md). For malformed input, verification resolves to false and computation
 * rejects.
 */
export interface Kzg {
  commitmentOf(blob: Uint8Array): Promise<Uint8Array>;
  blobProofOf(blob: Uint8Array, commitment: Uint8Array): Promise<Uint8Array>;
  verifyBlobs(batch: BlobBatch): Promise<boolean>;
  cellsOf(blob: Uint8Array): Promise<Uint8Array[]>;
  cellsAndProofsOf(blob: Uint8Array): Promise<CellsAndProofs>;
  verifyCells(batch: CellBatch): Promise<boolean>;
  /** Recovers all cells of a blob from at least half of them. Indices must be in ascending order. */
  recover(cellIndices: readonly number[], cells: readonly Uint8Array[]): Promise<CellsAndProofs>;
  /** Loads the backend and its trusted setup in advance, so the first job does not have to wait for them. */
  prepare(): void;
  close(): Promise<void>;
}

/** Parallel lists, one entry per blob. */
export interface BlobBatch {
  blobs: readonly Uint8Array[];
  commitments: readonly Uint8Array[];
  proofs: readonly Uint8Array[];
}

/** Parallel lists, one entry per cell, with the commitment of the cell's blob. */
export interface CellBatch {
  commitments: readonly Uint8Array[];
  cellIndices: readonly number[];
  cells: readonly Uint8Array[];
  proofs: readonly Uint8Array[];
}
