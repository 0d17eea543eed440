import type { OpenBackend } from "./backend.ts";

/**
 * Loads @crate-crypto/node-eth-kzg. Uses only its synchronous calls: asynchronous calls free their arguments on the
 * thread that first loaded the library, which crashes the process.
 */
export async function loadNodeEthKzg(): Promise<OpenBackend> {
  const { DasContextJs } = await import("@crate-crypto/node-eth-kzg");
  return ({ precompute }) => {
    const context = DasContextJs.create({ usePrecomp: precompute });
    // `cells` and `proofs` are getters that copy everything on each access.
    const read = ({ cells, proofs }: { cells: Uint8Array[]; proofs: Uint8Array[] }) => ({ cells, proofs });
    return {
      commitmentOf: (blob) => context.blobToKzgCommitment(blob),
      blobProofOf: (blob, commitment) => context.computeBlobKzgProof(blob, commitment),
      verifyBlobs: (blobs, commitments, proofs) => context.verifyBlobKzgProofBatch(blobs, commitments, proofs),
      cellsOf: (blob) => context.computeCells(blob),
      cellsAndProofsOf: (blob) => read(context.computeCellsAndKzgProofs(blob)),
      verifyCells: (commitments, indices, cells, proofs) =>
        context.verifyCellKzgProofBatch(commitments, indices, cells, proofs),
      recover: (indices, cells) => read(context.recoverCellsAndKzgProofs(indices, cells)),
    };
  };
}
