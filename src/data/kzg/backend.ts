import type { CellsAndProofs } from "./kzg.ts";

/** In order of preference. */
export const KZG_BACKENDS = ["node-eth-kzg", "c-kzg", "portable"] as const;
export type KzgBackendName = (typeof KZG_BACKENDS)[number];

/** `auto` uses the first backend that loads. */
export const KZG_CHOICES = ["auto", ...KZG_BACKENDS] as const;
export type KzgChoice = (typeof KZG_CHOICES)[number];

/** Synchronous KZG operations provided by a library. On malformed input, every function throws or returns false. */
export interface KzgBackend {
  commitmentOf(blob: Uint8Array): Uint8Array;
  blobProofOf(blob: Uint8Array, commitment: Uint8Array): Uint8Array;
  verifyBlobs(blobs: Uint8Array[], commitments: Uint8Array[], proofs: Uint8Array[]): boolean;
  cellsOf(blob: Uint8Array): Uint8Array[];
  cellsAndProofsOf(blob: Uint8Array): CellsAndProofs;
  verifyCells(commitments: Uint8Array[], cellIndices: number[], cells: Uint8Array[], proofs: Uint8Array[]): boolean;
  recover(cellIndices: number[], cells: Uint8Array[]): CellsAndProofs;
}

export interface BackendOptions {
  /** Builds precomputed tables. They halve the time per proof and take about 100 MB. */
  precompute: boolean;
}

/** Loads the trusted setup. The library itself is already loaded. */
export type OpenBackend = (options: BackendOptions) => KzgBackend;
