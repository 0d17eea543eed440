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
/** Of a KZG commitment and of a KZG proof. */
const POINT_BYTES = 48;

/** BlobsBundleV1, or from fulu on BlobsBundleV2, which has a proof for each cell of each blob. */
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
        `to ${blobs.length} blobs belong as many commitments and ${proofCount} proofs`,
    );
  }
  return bundle;
}

/** What engine_getBlobsV1 answers: null where a blob is not there. */
export function blobsFromJson(json: JsonValue, count: number): (PooledBlob | null)[] {
  return listOf(json, count).map((item) =>
    item.isAbsent
      ? null
      : { blob: blobFromJson(item.member("blob")), proofs: [item.member("proof").bytes(POINT_BYTES)] },
  );
}

/** What engine_getBlobsV2 answers: nothing unless all blobs are there. */
export function blobsWithCellProofsFromJson(json: JsonValue, count: number): (PooledBlob | null)[] {
  if (json.isAbsent) return Array.from({ length: count }, () => null);
  return listOf(json, count).map((item) => {
    const proofs = pointList(item.member("proofs"));
    if (proofs.length !== CELLS_PER_EXT_BLOB) {
      throw new UnexpectedValueError(`a blob has ${proofs.length} cell proofs; it must have ${CELLS_PER_EXT_BLOB}`);
    }
    return { blob: blobFromJson(item.member("blob")), proofs };
  });
}

function listOf(json: JsonValue, count: number): JsonValue[] {
  const items = json.list();
  if (items.length === count) return items;
  throw new UnexpectedValueError(`${items.length} blobs came, and ${count} were asked for`);
}

const blobFromJson = (json: JsonValue): Uint8Array => json.bytes(BLOB_BYTES);
const pointList = (json: JsonValue): Uint8Array[] => json.list().map((point) => point.bytes(POINT_BYTES));
