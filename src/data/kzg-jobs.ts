import type { DasContextJs } from "@crate-crypto/node-eth-kzg";
import type { BlobBatch, CellBatch, CellsAndProofs } from "./kzg.ts";

/** What can be asked of the thread, by name. */
export interface KzgJobs {
  commitmentOf: { input: { blob: Uint8Array }; answer: Uint8Array };
  blobProofOf: { input: { blob: Uint8Array; commitment: Uint8Array }; answer: Uint8Array };
  verifyBlobs: { input: BlobBatch; answer: boolean };
  cellsOf: { input: { blob: Uint8Array }; answer: Uint8Array[] };
  cellsAndProofsOf: { input: { blob: Uint8Array }; answer: CellsAndProofs };
  verifyCells: { input: CellBatch; answer: boolean };
  recover: { input: { cellIndices: readonly number[]; cells: readonly Uint8Array[] }; answer: CellsAndProofs };
}

export interface KzgRequest<Kind extends keyof KzgJobs = keyof KzgJobs> {
  id: number;
  kind: Kind;
  input: KzgJobs[Kind]["input"];
}

export type KzgAnswer = { id: number; answer: KzgJobs[keyof KzgJobs]["answer"] } | { id: number; failure: string };

type DoJobs = {
  [Kind in keyof KzgJobs]: (kzg: DasContextJs, input: KzgJobs[Kind]["input"]) => Promise<KzgJobs[Kind]["answer"]>;
};

export const KZG_JOBS: DoJobs = {
  commitmentOf: (kzg, { blob }) => kzg.asyncBlobToKzgCommitment(blob),
  blobProofOf: (kzg, { blob, commitment }) => kzg.asyncComputeBlobKzgProof(blob, commitment),
  verifyBlobs: (kzg, { blobs, commitments, proofs }) =>
    wrongIfMalformed(kzg.asyncVerifyBlobKzgProofBatch([...blobs], [...commitments], [...proofs])),
  cellsOf: (kzg, { blob }) => kzg.asyncComputeCells(blob),
  async cellsAndProofsOf(kzg, { blob }) {
    const { cells, proofs } = await kzg.asyncComputeCellsAndKzgProofs(blob);
    return { cells, proofs };
  },
  verifyCells: (kzg, { commitments, cellIndices, cells, proofs }) =>
    wrongIfMalformed(kzg.asyncVerifyCellKzgProofBatch([...commitments], [...cellIndices], [...cells], [...proofs])),
  async recover(kzg, { cellIndices, cells: known }) {
    const { cells, proofs } = await kzg.asyncRecoverCellsAndKzgProofs([...cellIndices], [...known]);
    return { cells, proofs };
  },
};

/** The library throws where bytes are no point of the curve or no element of the field. */
async function wrongIfMalformed(verdict: Promise<boolean>): Promise<boolean> {
  try {
    return await verdict;
  } catch {
    return false;
  }
}
