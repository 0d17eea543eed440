import type { BeaconConfig } from "@lodestar/config";
import { type deneb, type fulu, type gloas, type RootHex, type Slot, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { blobSubnetCount } from "./blob-sidecars.ts";
import { subnetOfColumn } from "./custody.ts";

/** Data column of a block. Since gloas it names only its block, whose bid has the commitments. */
export type ColumnSidecar = fulu.DataColumnSidecar | gloas.DataColumnSidecar;

/** Sidecar with the signed header of its block, which can be verified before the block is known. */
export type HeaderSidecar = deneb.BlobSidecar | fulu.DataColumnSidecar;

/** Data sidecar of a block: one per blob since Deneb, one per column since Fulu. */
export type DataSidecar = deneb.BlobSidecar | ColumnSidecar;

export function isColumn<T extends DataSidecar>(sidecar: T): sidecar is Extract<T, { column: unknown }> {
  return "column" in sidecar;
}

export function hasHeader<T extends DataSidecar>(sidecar: T): sidecar is Extract<T, { signedBlockHeader: unknown }> {
  return "signedBlockHeader" in sidecar;
}

export function slotOfSidecar(sidecar: DataSidecar): Slot {
  return hasHeader(sidecar) ? sidecar.signedBlockHeader.message.slot : sidecar.slot;
}

export function blockRootOfSidecar(sidecar: DataSidecar): RootHex {
  if (!hasHeader(sidecar)) return toRootHex(sidecar.beaconBlockRoot);
  return toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(sidecar.signedBlockHeader.message));
}

export function serializeSidecar(sidecar: DataSidecar): Uint8Array {
  if (!isColumn(sidecar)) return ssz.deneb.BlobSidecar.serialize(sidecar);
  return hasHeader(sidecar)
    ? ssz.fulu.DataColumnSidecar.serialize(sidecar)
    : ssz.gloas.DataColumnSidecar.serialize(sidecar);
}

/** Position of the first offset in a serialized column: after the index. */
const FIRST_OFFSET = 8;
/** Size of the fixed part of a gloas column: index, two offsets, slot and block root. */
const GLOAS_FIXED_SIZE = 8 + 4 + 4 + 8 + 32;

/**
 * Distinguishes the types by length and by the first offset: blob sidecars have a fixed size that no column can have,
 * and the fixed parts of columns have a different size in each fork.
 */
export function deserializeSidecar(bytes: Uint8Array): DataSidecar {
  if (bytes.length === ssz.deneb.BlobSidecar.fixedSize) return ssz.deneb.BlobSidecar.deserialize(bytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isGloas = view.getUint32(FIRST_OFFSET, true) === GLOAS_FIXED_SIZE;
  return (isGloas ? ssz.gloas : ssz.fulu).DataColumnSidecar.deserialize(bytes);
}

/**
 * compute_subnet_for_blob_sidecar (deneb/validator.md), compute_subnet_for_data_column_sidecar (fulu/p2p-interface.md).
 */
export function subnetOfSidecar(config: BeaconConfig, sidecar: DataSidecar): number {
  if (isColumn(sidecar)) return subnetOfColumn(config, sidecar.index);
  return sidecar.index % blobSubnetCount(config, config.getForkSeq(slotOfSidecar(sidecar)));
}
