import type { DasContextJs } from "@crate-crypto/node-eth-kzg";
import { createBeaconConfig } from "@lodestar/config";
import { chainConfig } from "@lodestar/config/default";
import { CELLS_PER_EXT_BLOB, ForkName, type ForkPostBellatrix } from "@lodestar/params";
import type { BlobsBundle } from "@lodestar/types";
import type { BlobBatch, CellBatch, Kzg } from "../../src/data/kzg.ts";
import { DevBlobs } from "../../src/dev/dev-blobs.ts";
import type { PayloadRequest } from "../../src/execution/engine.ts";

const MOST_BLOBS = 21;

/** Something that is done in the thread and, with the same outcome, by the library on the spot. */
export interface Subject {
  name: string;
  inThread(kzg: Kzg): Promise<unknown>;
  onTheSpot(library: DasContextJs): unknown;
}

export async function subjects(kzg: Kzg): Promise<Subject[]> {
  const blobs = await bundle(kzg, ForkName.electra);
  const extended = await bundle(kzg, ForkName.fulu);
  const cells = await Promise.all(extended.blobs.map((blob) => kzg.cellsOf(blob)));
  const [blob, cellsOfBlob] = [extended.blobs[0]!, cells[0]!];
  const half = Array.from({ length: CELLS_PER_EXT_BLOB / 2 }, (_, index) => 2 * index + 1);
  const known = half.map((index) => cellsOfBlob[index]!);
  return [
    ...[6, 9, 21].map((count) => verifyBlobs(count, firstOf(blobs, count))),
    ...[1, 8, 128].map((columns) => verifyColumns(columns, columnsOf(extended, cells, columns))),
    separateColumns(Array.from({ length: 8 }, (_, column) => columnsOf(extended, cells, 1, column))),
    {
      name: "the cells of a blob",
      inThread: (kzg) => kzg.cellsOf(blob),
      onTheSpot: (library) => library.computeCells(blob),
    },
    {
      name: "the cells of 21 blobs",
      inThread: (kzg) => Promise.all(extended.blobs.map((blob) => kzg.cellsOf(blob))),
      onTheSpot: (library) => extended.blobs.map((blob) => library.computeCells(blob)),
    },
    {
      name: "the proofs of the cells of a blob",
      inThread: (kzg) => kzg.cellsAndProofsOf(blob),
      onTheSpot: (library) => readOnce(library.computeCellsAndKzgProofs(blob)),
    },
    {
      name: "all cells and proofs of a blob, from half of the cells",
      inThread: (kzg) => kzg.recover(half, known),
      onTheSpot: (library) => readOnce(library.recoverCellsAndKzgProofs(half, known)),
    },
  ];
}

function bundle(kzg: Kzg, fork: ForkPostBellatrix): Promise<BlobsBundle> {
  const config = createBeaconConfig(
    { ...chainConfig, DENEB_FORK_EPOCH: 0, ELECTRA_FORK_EPOCH: 0, MAX_BLOBS_PER_BLOCK_ELECTRA: MOST_BLOBS },
    new Uint8Array(32),
  );
  const blobs = new DevBlobs({ config, kzg, counts: { least: MOST_BLOBS, most: MOST_BLOBS } });
  return blobs.bundleFor({ fork, slot: 1, parent: { blockHash: new Uint8Array(32) } } as PayloadRequest);
}

function firstOf({ blobs, commitments, proofs }: BlobsBundle, count: number): BlobBatch {
  return { blobs: blobs.slice(0, count), commitments: commitments.slice(0, count), proofs: proofs.slice(0, count) };
}

function columnsOf({ commitments, proofs }: BlobsBundle, cells: Uint8Array[][], count: number, first = 0): CellBatch {
  const batch = {
    commitments: [] as Uint8Array[],
    cellIndices: [] as number[],
    cells: [] as Uint8Array[],
    proofs: [] as Uint8Array[],
  };
  for (let column = first; column < first + count; column++) {
    for (const [blob, commitment] of commitments.entries()) {
      batch.commitments.push(commitment);
      batch.cellIndices.push(column);
      batch.cells.push(cells[blob]![column]!);
      batch.proofs.push(proofs[blob * CELLS_PER_EXT_BLOB + column]!);
    }
  }
  return batch;
}

function verifyBlobs(count: number, batch: BlobBatch): Subject {
  const { blobs, commitments, proofs } = batch;
  return {
    name: `verification of ${count} blobs`,
    inThread: async (kzg) => requireGood(await kzg.verifyBlobs(batch)),
    onTheSpot: (library) => requireGood(library.verifyBlobKzgProofBatch([...blobs], [...commitments], [...proofs])),
  };
}

function verifyColumns(count: number, batch: CellBatch): Subject {
  return {
    name: `verification of ${count} columns of ${MOST_BLOBS} blobs`,
    inThread: async (kzg) => requireGood(await kzg.verifyCells(batch)),
    onTheSpot: (library) => requireGood(verifyBy(library, batch)),
  };
}

/** As gossip brings them: each by itself, at nearly the same time. */
function separateColumns(batches: CellBatch[]): Subject {
  return {
    name: `verification of ${batches.length} columns that come one by one`,
    inThread: async (kzg) => {
      for (const verdict of await Promise.all(batches.map((batch) => kzg.verifyCells(batch)))) requireGood(verdict);
    },
    onTheSpot: (library) => batches.map((batch) => requireGood(verifyBy(library, batch))),
  };
}

const verifyBy = (library: DasContextJs, { commitments, cellIndices, cells, proofs }: CellBatch): boolean =>
  library.verifyCellKzgProofBatch([...commitments], [...cellIndices], [...cells], [...proofs]);

/** What the library answers copies all of it whenever it is looked at. */
const readOnce = ({ cells, proofs }: { cells: Uint8Array[]; proofs: Uint8Array[] }) => ({ cells, proofs });

function requireGood(verdict: boolean): void {
  if (!verdict) throw new Error("What is right was found wrong.");
}
