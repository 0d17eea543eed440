import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fromHex } from "@lodestar/utils";
import { parse } from "yaml";
import type { Kzg } from "../../src/data/kzg/kzg.ts";

type Hex = string;

interface Vector {
  name: string;
  input: Record<string, Hex | Hex[] | number[]>;
  /** Null for malformed input. */
  output: unknown;
}

const bytesOf = (hex: unknown) => fromHex(hex as Hex);
const listOf = (hexes: unknown) => (hexes as Hex[]).map(fromHex);
const numbersOf = (numbers: unknown) => numbers as number[];
const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString("hex")}`;

/** Result for an input, in the format of the specification's vectors. */
type Answer = (kzg: Kzg, input: Vector["input"]) => Promise<unknown>;

const ANSWERS: Readonly<Record<string, Answer>> = {
  blob_to_kzg_commitment: async (kzg, { blob }) => hexOf(await kzg.commitmentOf(bytesOf(blob))),
  compute_blob_kzg_proof: async (kzg, { blob, commitment }) =>
    hexOf(await kzg.blobProofOf(bytesOf(blob), bytesOf(commitment))),
  verify_blob_kzg_proof: (kzg, { blob, commitment, proof }) =>
    kzg.verifyBlobs({ blobs: [bytesOf(blob)], commitments: [bytesOf(commitment)], proofs: [bytesOf(proof)] }),
  verify_blob_kzg_proof_batch: (kzg, { blobs, commitments, proofs }) =>
    kzg.verifyBlobs({ blobs: listOf(blobs), commitments: listOf(commitments), proofs: listOf(proofs) }),
  compute_cells: async (kzg, { blob }) => (await kzg.cellsOf(bytesOf(blob))).map(hexOf),
  async compute_cells_and_kzg_proofs(kzg, { blob }) {
    const { cells, proofs } = await kzg.cellsAndProofsOf(bytesOf(blob));
    return [cells.map(hexOf), proofs.map(hexOf)];
  },
  verify_cell_kzg_proof_batch: (kzg, { commitments, cell_indices, cells, proofs }) =>
    kzg.verifyCells({
      commitments: listOf(commitments),
      cellIndices: numbersOf(cell_indices),
      cells: listOf(cells),
      proofs: listOf(proofs),
    }),
  async recover_cells_and_kzg_proofs(kzg, { cell_indices, cells: known }) {
    const { cells, proofs } = await kzg.recover(numbersOf(cell_indices), listOf(known));
    return [cells.map(hexOf), proofs.map(hexOf)];
  },
};

/** Returns the specification functions with vectors in this folder that a node uses. */
export const functionsIn = (folder: string): string[] =>
  readdirSync(folder).filter((name) => Object.hasOwn(ANSWERS, name));

export function* vectorsOf(folder: string, name: string): Generator<Vector> {
  for (const suite of readdirSync(join(folder, name))) {
    for (const vector of readdirSync(join(folder, name, suite))) {
      const text = readFileSync(join(folder, name, suite, vector, "data.yaml"), "utf8");
      yield { name: vector, ...(parse(text) as Omit<Vector, "name">) };
    }
  }
}

/**
 * Returns the actual and the expected result. For malformed input, verification returns false and computation fails.
 */
export async function answerTo(kzg: Kzg, name: string, { input, output }: Omit<Vector, "name">) {
  const isVerdict = name.startsWith("verify_");
  const failure = isVerdict ? false : null;
  const answer = ANSWERS[name]!(kzg, input);
  return { answer: isVerdict ? await answer : await answer.catch(() => null), expected: output ?? failure };
}
