import {
  BYTES_PER_FIELD_ELEMENT,
  CELLS_PER_EXT_BLOB,
  FIELD_ELEMENTS_PER_BLOB,
  type ForkPostBellatrix,
  isForkPostFulu,
} from "@lodestar/params";
import type { BlobsBundle } from "@lodestar/types";
import type { PooledBlob } from "../engine.ts";
import { type JsonValue, UnexpectedValueError } from "../json-value.ts";

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

/** Decodes the result of engine_getBlobsV2: all blobs or none. */
export function blobsWithCellProofsFromJson(json: JsonValue, count: number): (PooledBlob | null)[] {
  if (json.isAbsent) return Array.from({ length: count }, () => null);
  return listOf(json, count).map((item) => {
    const proofs = pointList(item.member("proofs"));
    if (proofs.length !== CELLS_PER_EXT_BLOB) {
      throw new UnexpectedValueError(`a blob has ${proofs.length} cell proofs, expected ${CELLS_PER_EXT_BLOB}`);
    }
    return { blob: blobFromJson(item.member("blob")), proofs };
  });
}

function listOf(json: JsonValue, count: number): JsonValue[] {
  const items = json.list();
  if (items.length === count) return items;
  throw new UnexpectedValueError(`received ${items.length} blobs, expected ${count}`);
}

const blobFromJson = (json: JsonValue): Uint8Array => json.bytes(BLOB_BYTES);
const pointList = (json: JsonValue): Uint8Array[] => json.list().map((point) => point.bytes(POINT_BYTES));
