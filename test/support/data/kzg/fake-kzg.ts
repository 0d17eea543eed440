import { createHash } from "node:crypto";
import { BYTES_PER_FIELD_ELEMENT, CELLS_PER_EXT_BLOB, FIELD_ELEMENTS_PER_BLOB } from "@lodestar/params";
import type { BlobBatch, CellBatch, CellsAndProofs, Kzg } from "../../../../src/data/kzg/kzg.ts";

export const BLOB_BYTES = FIELD_ELEMENTS_PER_BLOB * BYTES_PER_FIELD_ELEMENT;
const BLOB_CELLS = CELLS_PER_EXT_BLOB / 2;
const CELL_BYTES = BLOB_BYTES / BLOB_CELLS;

/**
 * Fake KZG with hashes as commitments and proofs. The extension of a blob is the blob with inverted bits, so that a
 * cell can be recovered from the one 64 positions away.
 */
export class FakeKzg implements Kzg {
  /** Number of verified batches. */
  batches = 0;

  async commitmentOf(blob: Uint8Array): Promise<Uint8Array> {
    return point("commitment", blob);
  }

  async blobProofOf(blob: Uint8Array, commitment: Uint8Array): Promise<Uint8Array> {
    return point("blob", blob, commitment);
  }

  async verifyBlobs({ blobs, commitments, proofs }: BlobBatch): Promise<boolean> {
    if (blobs.length > 0) this.batches++;
    return blobs.every((blob, i) => isEqual(proofs[i], point("blob", blob, commitments[i]!)));
  }

  async cellsOf(blob: Uint8Array): Promise<Uint8Array[]> {
    const cells = Array.from({ length: BLOB_CELLS }, (_, i) => blob.slice(i * CELL_BYTES, (i + 1) * CELL_BYTES));
    return [...cells, ...cells.map(inverse)];
  }

  async cellsAndProofsOf(blob: Uint8Array): Promise<CellsAndProofs> {
    const cells = await this.cellsOf(blob);
    const commitment = await this.commitmentOf(blob);
    return { cells, proofs: cells.map((cell, index) => cellProof(cell, index, commitment)) };
  }

  async verifyCells({ commitments, cellIndices, cells, proofs }: CellBatch): Promise<boolean> {
    if (cells.length > 0) this.batches++;
    return cells.every((cell, i) => isEqual(proofs[i], cellProof(cell, cellIndices[i]!, commitments[i]!)));
  }

  async recover(cellIndices: readonly number[], cells: readonly Uint8Array[]): Promise<CellsAndProofs> {
    const known = new Map(cellIndices.map((index, i) => [index, cells[i]!]));
    const blobCells = Array.from({ length: BLOB_CELLS }, (_, index) => {
      const extending = known.get(index + BLOB_CELLS);
      const cell = known.get(index) ?? (extending && inverse(extending));
      if (!cell) throw new Error(`Neither cell ${index} nor cell ${index + BLOB_CELLS} is known.`);
      return cell;
    });
    return this.cellsAndProofsOf(new Uint8Array(Buffer.concat(blobCells)));
  }

  prepare(): void {}

  async close(): Promise<void> {}
}

const inverse = (cell: Uint8Array) => cell.map((byte) => byte ^ 0xff);
const isEqual = (a: Uint8Array | undefined, b: Uint8Array) => a !== undefined && Buffer.compare(a, b) === 0;
const cellProof = (cell: Uint8Array, index: number, commitment: Uint8Array) => point(`cell ${index}`, cell, commitment);

function point(...parts: (string | Uint8Array)[]): Uint8Array {
  const hash = createHash("sha384");
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
}
