import type { OpenBackend } from "./backend.ts";

/** The part of the c-kzg 4 API used here. The package is an optional peer dependency, so its types may be missing. */
interface CKzg {
  loadTrustedSetup(precompute: number): void;
  blobToKzgCommitment(blob: Uint8Array): Uint8Array;
  computeBlobKzgProof(blob: Uint8Array, commitment: Uint8Array): Uint8Array;
  verifyBlobKzgProofBatch(blobs: Uint8Array[], commitments: Uint8Array[], proofs: Uint8Array[]): boolean;
  computeCells(blob: Uint8Array): Uint8Array[];
  computeCellsAndKzgProofs(blob: Uint8Array): [Uint8Array[], Uint8Array[]];
  verifyCellKzgProofBatch(
    commitments: Uint8Array[],
    indices: number[],
    cells: Uint8Array[],
    proofs: Uint8Array[],
  ): boolean;
  recoverCellsAndKzgProofs(indices: number[], cells: Uint8Array[]): [Uint8Array[], Uint8Array[]];
}

/** Window size of the proof tables, which take 96 MB. */
const PRECOMPUTE_WIDTH = 8;

/** Loads c-kzg if it is installed. */
export async function loadCKzg(): Promise<OpenBackend> {
  const name: string = "c-kzg";
  const kzg: CKzg = (await import(name)).default;
  return ({ precompute }) => {
    kzg.loadTrustedSetup(precompute ? PRECOMPUTE_WIDTH : 0);
    const named = ([cells, proofs]: [Uint8Array[], Uint8Array[]]) => ({ cells, proofs });
    return {
      commitmentOf: (blob) => kzg.blobToKzgCommitment(blob),
      blobProofOf: (blob, commitment) => kzg.computeBlobKzgProof(blob, commitment),
      verifyBlobs: (blobs, commitments, proofs) => kzg.verifyBlobKzgProofBatch(blobs, commitments, proofs),
      cellsOf: (blob) => kzg.computeCells(blob),
      cellsAndProofsOf: (blob) => named(kzg.computeCellsAndKzgProofs(blob)),
      verifyCells: (commitments, indices, cells, proofs) =>
        kzg.verifyCellKzgProofBatch(commitments, indices, cells, proofs),
      recover: (indices, cells) => named(kzg.recoverCellsAndKzgProofs(indices, cells)),
    };
  };
}
