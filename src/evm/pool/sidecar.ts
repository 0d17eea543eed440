import { createHash } from "node:crypto";
import { asBytes, asList, decode, encode, encodeBytes, encodeList } from "../rlp.ts";
import { PoolError } from "./pool-error.ts";

/** A transaction's blobs with their commitments and proofs. */
export interface Sidecar {
  /** Version 0 has one proof per blob (EIP-4844); version 1 has one proof per cell (EIP-7594). */
  version: 0 | 1;
  blobs: Uint8Array[];
  commitments: Uint8Array[];
  proofs: Uint8Array[];
}

/** A transaction from its network encoding. Only blob transactions have a sidecar. */
export interface TransactionWithSidecar {
  /** Encoding used in blocks. */
  raw: Uint8Array;
  sidecar?: Sidecar;
}

/** Checks and converts sidecars. */
export interface SidecarKzg {
  verify(sidecar: Sidecar): Promise<boolean>;
  /** Computes cell proofs for a version 0 sidecar. If omitted, such sidecars are rejected since Osaka. */
  upgrade?(sidecar: Sidecar): Promise<Sidecar>;
}

const BLOB_TYPE = 3;
const BLOB_SIZE = 131_072;
/** Size of a commitment or proof. */
const POINT_SIZE = 48;
const CELLS_PER_BLOB = 128;
const VERSIONED_HASH_VERSION = 1;

/** Splits off the sidecar from a network-encoded transaction. Throws a `PoolError` if the sidecar is malformed. */
export function splitSidecar(encoded: Uint8Array): TransactionWithSidecar {
  if (encoded[0] !== BLOB_TYPE) return { raw: encoded };
  const items = asList(decode(encoded.subarray(1)));
  const [transaction] = items;
  if (!Array.isArray(transaction)) return { raw: encoded };
  const version = items.length === 4 ? 0 : items.length === 5 ? asBytes(items[1])[0] : undefined;
  if (version !== 0 && version !== 1) throw new PoolError("wrongSidecar", `version ${version ?? "unknown"}`);
  const [blobs, commitments, proofs] = items.slice(-3).map((item) => asList(item).map(asBytes));
  const sidecar: Sidecar = { version, blobs: blobs!, commitments: commitments!, proofs: proofs! };
  checkSizes(sidecar);
  return { raw: typed(encode(transaction)), sidecar };
}

/** Encodes a transaction for the network. Inverse of `splitSidecar`. */
export function joinSidecar({ raw, sidecar }: TransactionWithSidecar): Uint8Array {
  if (sidecar === undefined) return raw;
  const { version, blobs, commitments, proofs } = sidecar;
  const lists = [blobs, commitments, proofs].map((list) => encodeList(list.map(encodeBytes)));
  return typed(encodeList([raw.subarray(1), ...(version === 1 ? [encodeBytes(Uint8Array.of(1))] : []), ...lists]));
}

/** EIP-4844, kzg_to_versioned_hash. */
export function versionedHashOf(commitment: Uint8Array): Uint8Array {
  const hash = new Uint8Array(createHash("sha256").update(commitment).digest());
  hash[0] = VERSIONED_HASH_VERSION;
  return hash;
}

/** Returns the proofs for one blob in a sidecar. */
export function proofsOfBlob({ version, proofs }: Sidecar, index: number): Uint8Array[] {
  const count = version === 1 ? CELLS_PER_BLOB : 1;
  return proofs.slice(index * count, (index + 1) * count);
}

function checkSizes({ version, blobs, commitments, proofs }: Sidecar): void {
  const proofCount = blobs.length * (version === 1 ? CELLS_PER_BLOB : 1);
  const isRight =
    commitments.length === blobs.length &&
    proofs.length === proofCount &&
    blobs.every(({ length }) => length === BLOB_SIZE) &&
    [...commitments, ...proofs].every(({ length }) => length === POINT_SIZE);
  if (isRight) return;
  throw new PoolError(
    "invalidSidecar",
    `${blobs.length} blobs, ${commitments.length} commitments and ${proofs.length} proofs of version ${version}`,
  );
}

function typed(body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(body.length + 1);
  bytes[0] = BLOB_TYPE;
  bytes.set(body, 1);
  return bytes;
}
