import type { KzgBackend, KzgBackendName, KzgChoice } from "./backend.ts";
import type { BlobBatch, CellBatch, CellsAndProofs } from "./kzg.ts";

/** Inputs and results of the jobs that a KZG worker thread runs. */
export interface KzgJobs {
  commitmentOf: { input: { blob: Uint8Array }; result: { commitment: Uint8Array } };
  blobProofOf: { input: { blob: Uint8Array; commitment: Uint8Array }; result: { proof: Uint8Array } };
  verifyBlobs: { input: BlobBatch & Grouped; result: Verdicts };
  cellsOf: { input: { blob: Uint8Array }; result: { cells: Uint8Array[] } };
  cellsAndProofsOf: { input: { blob: Uint8Array }; result: CellsAndProofs };
  verifyCells: { input: CellBatch & Grouped; result: Verdicts };
  recover: { input: { cellIndices: readonly number[]; cells: readonly Uint8Array[] }; result: CellsAndProofs };
}

/** Sizes of the verification requests that were merged into one batch, in order. */
interface Grouped {
  groups: readonly number[];
}

/** One verdict per group. */
interface Verdicts {
  verdicts: boolean[];
}

export interface KzgWorkerData {
  /** Backend to load, or `auto`. */
  choice: KzgChoice;
  /** Precomputes tables at startup, which halves the time per proof. */
  precompute: boolean;
}

export interface LoadReport {
  backend: KzgBackendName;
  /** Backends that were tried first but did not load, each with the reason. */
  skipped: readonly string[];
}

type JobTable = {
  [Kind in keyof KzgJobs]: (kzg: KzgBackend, input: KzgJobs[Kind]["input"]) => KzgJobs[Kind]["result"];
};

/** Runs each kind of job on a backend. */
export const KZG_JOBS: JobTable = {
  commitmentOf: (kzg, { blob }) => ({ commitment: kzg.commitmentOf(blob) }),

  blobProofOf: (kzg, { blob, commitment }) => ({ proof: kzg.blobProofOf(blob, commitment) }),

  verifyBlobs: (kzg, { blobs, commitments, proofs, groups }) =>
    verifyGroups(groups, (from, to) =>
      kzg.verifyBlobs(blobs.slice(from, to), commitments.slice(from, to), proofs.slice(from, to)),
    ),

  cellsOf: (kzg, { blob }) => ({ cells: kzg.cellsOf(blob) }),

  cellsAndProofsOf: (kzg, { blob }) => kzg.cellsAndProofsOf(blob),

  verifyCells: (kzg, { commitments, cellIndices, cells, proofs, groups }) =>
    verifyGroups(groups, (from, to) =>
      kzg.verifyCells(
        commitments.slice(from, to),
        cellIndices.slice(from, to),
        cells.slice(from, to),
        proofs.slice(from, to),
      ),
    ),

  recover(kzg, { cellIndices, cells }) {
    requireAscending(cellIndices);
    return kzg.recover([...cellIndices], [...cells]);
  },
};

/** fulu/polynomial-commitments-sampling.md, recover_cells_and_kzg_proofs. Not all libraries check the order. */
function requireAscending(indices: readonly number[]): void {
  for (const [position, index] of indices.entries()) {
    if (position > 0 && index <= indices[position - 1]!) throw new Error("Cell indices must be in ascending order.");
  }
}

/** Verifies all groups as one batch, which is cheaper. If the batch fails, verifies each group separately. */
function verifyGroups(groups: readonly number[], verify: (from: number, to: number) => boolean): Verdicts {
  const total = groups.reduce((sum, size) => sum + size, 0);
  const all = falseIfMalformed(() => verify(0, total));
  if (all || groups.length === 1) return { verdicts: groups.map(() => all) };
  let to = 0;
  const verdicts = groups.map((size) => {
    const from = to;
    to += size;
    return falseIfMalformed(() => verify(from, from + size));
  });
  return { verdicts };
}

/** Backends throw for invalid curve points and field elements. */
function falseIfMalformed(verify: () => boolean): boolean {
  try {
    return verify();
  } catch {
    return false;
  }
}
