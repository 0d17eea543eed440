import { createHash } from "node:crypto";
import { createBeaconConfig } from "@lodestar/config";
import { chainConfig } from "@lodestar/config/default";
import {
  BYTES_PER_FIELD_ELEMENT,
  CELLS_PER_EXT_BLOB,
  FIELD_ELEMENTS_PER_BLOB,
  ForkName,
  type ForkPostBellatrix,
} from "@lodestar/params";
import type { CellBatch, Kzg } from "../../src/data/kzg/kzg.ts";
import { DevBlobs } from "../../src/dev/dev-blobs.ts";
import type { PayloadBlobs, PayloadRequest } from "../../src/execution/engine.ts";

const BLOBS = 6;

export interface Operation {
  name: string;
  run(kzg: Kzg): Promise<unknown>;
}

const electra = bundleOf(ForkName.electra);
const fulu = bundleOf(ForkName.fulu);
const half = Array.from({ length: CELLS_PER_EXT_BLOB / 2 }, (_, index) => 2 * index + 1);

export const OPERATIONS: readonly Operation[] = [
  ...[1, 3, 6].map((count) => verifyBlobs(count)),
  ...[1, 3, 6].map((count) => verifyColumns(8, count)),
  ...[1, 3, 6].map((count) => verifyColumns(128, count)),
  { name: "compute the cells of a blob", run: (kzg) => kzg.cellsOf(fulu.blobs[0]!) },
];

/** Dense blob: the polynomials of dev blobs have few terms, so their proofs are cheap. */
const dense = denseBlob();

export const PROOFS: readonly Operation[] = [
  { name: "commit to a blob", run: (kzg) => kzg.commitmentOf(dense) },
  { name: "commit to a blob and prove it", run: async (kzg) => kzg.blobProofOf(dense, await kzg.commitmentOf(dense)) },
  { name: "prove the cells of a blob", run: (kzg) => kzg.cellsAndProofsOf(dense) },
  {
    name: "recover a blob from half of its cells",
    run: (kzg) =>
      kzg.recover(
        half,
        half.map((index) => fulu.cells![0]![index]!),
      ),
  },
];

function denseBlob(): Uint8Array {
  const blob = new Uint8Array(FIELD_ELEMENTS_PER_BLOB * BYTES_PER_FIELD_ELEMENT);
  for (let at = 0; at < blob.length; at += BYTES_PER_FIELD_ELEMENT) {
    // The first byte stays zero, which keeps the element below the modulus.
    blob.set(createHash("sha256").update(String(at)).digest().subarray(1), at + 1);
  }
  return blob;
}

function bundleOf(fork: ForkPostBellatrix): PayloadBlobs {
  const config = createBeaconConfig(
    { ...chainConfig, DENEB_FORK_EPOCH: 0, ELECTRA_FORK_EPOCH: 0, MAX_BLOBS_PER_BLOCK_ELECTRA: BLOBS },
    new Uint8Array(32),
  );
  const blobs = new DevBlobs({ config, counts: { least: BLOBS, most: BLOBS } });
  return blobs.bundleFor({ fork, slot: 1, parent: { blockHash: new Uint8Array(32) } } as PayloadRequest);
}

function verifyBlobs(count: number): Operation {
  const { blobs, commitments, proofs } = electra;
  const batch = {
    blobs: blobs.slice(0, count),
    commitments: commitments.slice(0, count),
    proofs: proofs.slice(0, count),
  };
  return { name: `verify ${count} ${count === 1 ? "blob" : "blobs"}`, run: (kzg) => valid(kzg.verifyBlobs(batch)) };
}

function verifyColumns(columns: number, count: number): Operation {
  const batch: Record<keyof CellBatch, unknown[]> = { commitments: [], cellIndices: [], cells: [], proofs: [] };
  for (let column = 0; column < columns; column++) {
    for (let blob = 0; blob < count; blob++) {
      batch.commitments.push(fulu.commitments[blob]!);
      batch.cellIndices.push(column);
      batch.cells.push(fulu.cells![blob]![column]!);
      batch.proofs.push(fulu.proofs[blob * CELLS_PER_EXT_BLOB + column]!);
    }
  }
  return {
    name: `verify ${columns} columns of ${count} ${count === 1 ? "blob" : "blobs"}`,
    run: (kzg) => valid(kzg.verifyCells(batch as unknown as CellBatch)),
  };
}

async function valid(verdict: Promise<boolean>): Promise<void> {
  if (!(await verdict)) throw new Error("A valid batch was rejected.");
}
