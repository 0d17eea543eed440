import type { DasContextJs } from "@crate-crypto/node-eth-kzg";
import type { BlobBatch, CellBatch, CellsAndProofs } from "./kzg.ts";

/** What can be asked of the thread, by name. */
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
  id: number;
  kind: Kind;
  input: KzgJobs[Kind]["input"];
}

export type KzgAnswer = { id: number; answer: KzgJobs[keyof KzgJobs]["answer"] } | { id: number; failure: string };

type DoJobs = {
  [Kind in keyof KzgJobs]: (kzg: DasContextJs, input: KzgJobs[Kind]["input"]) => Promise<KzgJobs[Kind]["answer"]>;
};

export const KZG_JOBS: DoJobs = {
  async commitmentOf(kzg, { blob }) {
    return { commitment: await kzg.asyncBlobToKzgCommitment(blob) };
  },

  async blobProofOf(kzg, { blob, commitment }) {
    return { proof: await kzg.asyncComputeBlobKzgProof(blob, commitment) };
  },

  verifyBlobs(kzg, { blobs, commitments, proofs, groups }) {
    return verifyGroups(groups, (from, to) =>
      kzg.asyncVerifyBlobKzgProofBatch(blobs.slice(from, to), commitments.slice(from, to), proofs.slice(from, to)),
    );
  },

  async cellsOf(kzg, { blob }) {
    return { cells: await kzg.asyncComputeCells(blob) };
  },

  // What the library answers copies all of it whenever it is looked at.
  async cellsAndProofsOf(kzg, { blob }) {
    const { cells, proofs } = await kzg.asyncComputeCellsAndKzgProofs(blob);
    return { cells, proofs };
  },

  verifyCells(kzg, { commitments, cellIndices, cells, proofs, groups }) {
    return verifyGroups(groups, (from, to) =>
      kzg.asyncVerifyCellKzgProofBatch(
        commitments.slice(from, to),
        cellIndices.slice(from, to),
        cells.slice(from, to),
        proofs.slice(from, to),
      ),
    );
  },

  async recover(kzg, { cellIndices, cells: known }) {
    const { cells, proofs } = await kzg.asyncRecoverCellsAndKzgProofs([...cellIndices], [...known]);
    return { cells, proofs };
  },
};

/** All at once, which costs less, and one by one when something among them is wrong. */
async function verifyGroups(
  groups: readonly number[],
  verify: (from: number, to: number) => Promise<boolean>,
): Promise<Verdicts> {
  const total = groups.reduce((sum, size) => sum + size, 0);
  const all = await wrongIfMalformed(verify(0, total));
  if (all || groups.length === 1) return { verdicts: groups.map(() => all) };
  const verdicts: boolean[] = [];
  let from = 0;
  for (const size of groups) {
    verdicts.push(await wrongIfMalformed(verify(from, from + size)));
    from += size;
  }
  return { verdicts };
}

/** The library throws where bytes are no point of the curve or no element of the field. */
async function wrongIfMalformed(verdict: Promise<boolean>): Promise<boolean> {
  try {
    return await verdict;
  } catch {
    return false;
  }
}
