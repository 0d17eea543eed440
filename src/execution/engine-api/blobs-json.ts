import {
  BYTES_PER_FIELD_ELEMENT,
  CELLS_PER_EXT_BLOB,
  FIELD_ELEMENTS_PER_BLOB,
  type ForkPostBellatrix,
  isForkPostFulu,
} from "@lodestar/params";
import type { BlobsBundle } from "@lodestar/types";
import type { PooledBlob, PooledCells } from "../engine.ts";
import { type JsonValue, UnexpectedValueError } from "../json-value.ts";

/** Size of a cell (fulu/polynomial-commitments-sampling.md). */
const CELL_BYTES = 2 * (FIELD_ELEMENTS_PER_BLOB / CELLS_PER_EXT_BLOB) * BYTES_PER_FIELD_ELEMENT;
const BLOB_BYTES = FIELD_ELEMENTS_PER_BLOB * BYTES_PER_FIELD_ELEMENT;
/** Size of a KZG commitment or proof. */
const POINT_BYTES = 48;

/** Decodes BlobsBundleV1 or, since fulu, BlobsBundleV2 with cell proofs. */
export function blobsBundleFromJson(fork: ForkPostBellatrix, json: JsonValue): BlobsBundle {
  const points = (name: string) => pointList(json.member(name));
  const bundle = {
    commitments: points("commitments"),
    proofs: points("proofs"),
    blobs: json.member("blobs").list().map(blobFromJson),
  };
  const { commitments, proofs, blobs } = bundle;
  const proofCount = blobs.length * (isForkPostFulu(fork) ? CELLS_PER_EXT_BLOB : 1);
  if (commitments.length !== blobs.length || proofs.length !== proofCount) {
    throw new UnexpectedValueError(
      `blobsBundle has ${blobs.length} blobs, ${commitments.length} commitments and ${proofs.length} proofs; ` +
        `expected ${blobs.length} commitments and ${proofCount} proofs`,
    );
  }
  return bundle;
}

/** Decodes the result of engine_getBlobsV1: null for missing blobs. */
export function blobsFromJson(json: JsonValue, count: number): (PooledBlob | null)[] {
  return listOf(json, count).map((item) =>
    item.isAbsent
      ? null
      : { blob: blobFromJson(item.member("blob")), proofs: [item.member("proof").bytes(POINT_BYTES)] },
  );
}

/** Decodes the result of engine_getBlobsV2, all blobs or none, or of engine_getBlobsV3, with null for missing blobs. */
export function blobsWithCellProofsFromJson(json: JsonValue, count: number): (PooledBlob | null)[] {
  if (json.isAbsent) return Array.from({ length: count }, () => null);
  return listOf(json, count).map((item) => {
    if (item.isAbsent) return null;
    const proofs = pointList(item.member("proofs"));
    if (proofs.length !== CELLS_PER_EXT_BLOB) {
      throw new UnexpectedValueError(`a blob has ${proofs.length} cell proofs, expected ${CELLS_PER_EXT_BLOB}`);
    }
    return { blob: blobFromJson(item.member("blob")), proofs };
  });
}

/** Decodes the result of engine_getBlobsV4: the requested cells of each blob, with null for missing ones. */
export function cellsFromJson(json: JsonValue, count: number, cellCount: number): (PooledCells | null)[] {
  if (json.isAbsent) return Array.from({ length: count }, () => null);
  return listOf(json, count).map((item) => {
    if (item.isAbsent) return null;
    const optional = (name: string, length: number) =>
      item
        .member(name)
        .list()
        .map((each) => (each.isAbsent ? null : each.bytes(length)));
    const cells = optional("blob_cells", CELL_BYTES);
    const proofs = optional("proofs", POINT_BYTES);
    const isPaired = cells.every((cell, index) => (cell === null) === (proofs[index] === null));
    if (cells.length !== cellCount || proofs.length !== cellCount || !isPaired) {
      throw new UnexpectedValueError(
        `a blob has ${cells.length} cells and ${proofs.length} proofs; expected ${cellCount} of each, null in pairs`,
      );
    }
    return { cells, proofs };
  });
}

/** Encodes cell indices as the bit array of engine_getBlobsV4. */
export function cellBits(indices: readonly number[]): Uint8Array {
  const bits = new Uint8Array(CELLS_PER_EXT_BLOB / 8);
  for (const index of indices) bits[index >> 3]! |= 1 << (index & 7);
  return bits;
}

function listOf(json: JsonValue, count: number): JsonValue[] {
  const items = json.list();
  if (items.length === count) return items;
  throw new UnexpectedValueError(`received ${items.length} blobs, expected ${count}`);
}

const blobFromJson = (json: JsonValue): Uint8Array => json.bytes(BLOB_BYTES);
const pointList = (json: JsonValue): Uint8Array[] => json.list().map((point) => point.bytes(POINT_BYTES));
