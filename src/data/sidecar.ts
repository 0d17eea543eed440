import type { BeaconConfig } from "@lodestar/config";
import { type deneb, type fulu, type RootHex, type Slot, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { blobSubnetCount } from "./blob-sidecars.ts";
import { subnetOfColumn } from "./custody.ts";

/** What stands beside a block: from deneb on a sidecar a blob, from fulu on a sidecar a column of all blobs. */
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

/** Which of both it is, its length tells: no number of cells makes a column as long as the sidecar of a blob, which always has the same length. */
export function deserializeSidecar(bytes: Uint8Array): DataSidecar {
  const type = bytes.length === ssz.deneb.BlobSidecar.fixedSize ? ssz.deneb.BlobSidecar : ssz.fulu.DataColumnSidecar;
  return type.deserialize(bytes);
}

/** compute_subnet_for_blob_sidecar (deneb/validator.md) and compute_subnet_for_data_column_sidecar (fulu/p2p-interface.md). */
export function subnetOfSidecar(config: BeaconConfig, sidecar: DataSidecar): number {
  if (isColumn(sidecar)) return subnetOfColumn(config, sidecar.index);
  return sidecar.index % blobSubnetCount(config, config.getForkSeq(slotOfSidecar(sidecar)));
}
