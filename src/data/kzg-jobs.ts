import type { DasContextJs } from "@crate-crypto/node-eth-kzg";
import type { BlobBatch, CellBatch, CellsAndProofs } from "./kzg.ts";

/** What can be asked of a thread, by name. */
export interface KzgJobs {
  commitmentOf: { input: { blob: Uint8Array }; answer: { commitment: Uint8Array } };
  blobProofOf: { input: { blob: Uint8Array; commitment: Uint8Array }; answer: { proof: Uint8Array } };
  verifyBlobs: { input: BlobBatch & Grouped; answer: Verdicts };
  cellsOf: { input: { blob: Uint8Array }; answer: { cells: Uint8Array[] } };
  cellsAndProofsOf: { input: { blob: Uint8Array }; answer: CellsAndProofs };
  verifyCells: { input: CellBatch & Grouped; answer: Verdicts };
  recover: { input: { cellIndices: readonly number[]; cells: readonly Uint8Array[] }; answer: CellsAndProofs };
}

/** Of several who have something verified: how many blobs or cells are whose, in their order. */
interface Grouped {
  groups: readonly number[];
}

/** On each group. */
interface Verdicts {
  verdicts: boolean[];
}

export interface KzgRequest<Kind extends keyof KzgJobs = keyof KzgJobs> {
  kind: Kind;
  input: KzgJobs[Kind]["input"];
}

export type KzgAnswer = { answer: KzgJobs[keyof KzgJobs]["answer"] } | { failure: string };

type DoJobs = {
  [Kind in keyof KzgJobs]: (kzg: DasContextJs, input: KzgJobs[Kind]["input"]) => KzgJobs[Kind]["answer"];
};

export const KZG_JOBS: DoJobs = {
  commitmentOf: (kzg, { blob }) => ({ commitment: kzg.blobToKzgCommitment(blob) }),

  blobProofOf: (kzg, { blob, commitment }) => ({ proof: kzg.computeBlobKzgProof(blob, commitment) }),

  verifyBlobs: (kzg, { blobs, commitments, proofs, groups }) =>
    verifyGroups(groups, (from, to) =>
      kzg.verifyBlobKzgProofBatch(blobs.slice(from, to), commitments.slice(from, to), proofs.slice(from, to)),
    ),

  cellsOf: (kzg, { blob }) => ({ cells: kzg.computeCells(blob) }),

  cellsAndProofsOf: (kzg, { blob }) => readOnce(kzg.computeCellsAndKzgProofs(blob)),

  verifyCells: (kzg, { commitments, cellIndices, cells, proofs, groups }) =>
    verifyGroups(groups, (from, to) =>
      kzg.verifyCellKzgProofBatch(
        commitments.slice(from, to),
        cellIndices.slice(from, to),
        cells.slice(from, to),
        proofs.slice(from, to),
      ),
    ),

  recover: (kzg, { cellIndices, cells }) => readOnce(kzg.recoverCellsAndKzgProofs([...cellIndices], [...cells])),
};

/** What the library answers copies all of it whenever it is looked at. */
function readOnce({ cells, proofs }: CellsAndProofs): CellsAndProofs {
  return { cells, proofs };
}

/** All at once, which costs less, and one by one when something among them is wrong. */
function verifyGroups(groups: readonly number[], verify: (from: number, to: number) => boolean): Verdicts {
  const total = groups.reduce((sum, size) => sum + size, 0);
  const all = wrongIfMalformed(() => verify(0, total));
  if (all || groups.length === 1) return { verdicts: groups.map(() => all) };
  let to = 0;
  const verdicts = groups.map((size) => {
    const from = to;
    to += size;
    return wrongIfMalformed(() => verify(from, from + size));
  });
  return { verdicts };
}

/** The library throws where bytes are no point of the curve or no element of the field. */
function wrongIfMalformed(verify: () => boolean): boolean {
  try {
    return verify();
  } catch {
    return false;
  }
}
