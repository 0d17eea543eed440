import type { BeaconConfig } from "@lodestar/config";
import { type deneb, type fulu, type RootHex, type Slot, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { blobSubnetCount } from "./blob-sidecars.ts";
import { subnetOfColumn } from "./custody.ts";

/** Data sidecar of a block: one per blob since Deneb, one per column since Fulu. */
export type DataSidecar = deneb.BlobSidecar | fulu.DataColumnSidecar;

export function isColumn(sidecar: DataSidecar): sidecar is fulu.DataColumnSidecar {
  return "column" in sidecar;
}

export function slotOfSidecar({ signedBlockHeader }: DataSidecar): Slot {
  return signedBlockHeader.message.slot;
}

export function blockRootOfSidecar({ signedBlockHeader }: DataSidecar): RootHex {
  return toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(signedBlockHeader.message));
}

export function serializeSidecar(sidecar: DataSidecar): Uint8Array {
  return isColumn(sidecar) ? ssz.fulu.DataColumnSidecar.serialize(sidecar) : ssz.deneb.BlobSidecar.serialize(sidecar);
}

/** Distinguishes the two types by length: blob sidecars have a fixed size that no column sidecar can have. */
export function deserializeSidecar(bytes: Uint8Array): DataSidecar {
  const type = bytes.length === ssz.deneb.BlobSidecar.fixedSize ? ssz.deneb.BlobSidecar : ssz.fulu.DataColumnSidecar;
  return type.deserialize(bytes);
}

/**
 * compute_subnet_for_blob_sidecar (deneb/validator.md), compute_subnet_for_data_column_sidecar (fulu/p2p-interface.md).
 */
export function subnetOfSidecar(config: BeaconConfig, sidecar: DataSidecar): number {
  if (isColumn(sidecar)) return subnetOfColumn(config, sidecar.index);
  return sidecar.index % blobSubnetCount(config, config.getForkSeq(slotOfSidecar(sidecar)));
}
