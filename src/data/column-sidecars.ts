import type { BeaconConfig } from "@lodestar/config";
import {
  type ForkName,
  KZG_COMMITMENTS_INCLUSION_PROOF_DEPTH,
  KZG_COMMITMENTS_SUBTREE_INDEX,
  NUMBER_OF_COLUMNS,
} from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { type electra, type fulu, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { verifyMerkleBranch } from "@lodestar/utils";
import { branchOf, commitmentsOf, signedHeaderOf } from "./commitments.ts";
import type { CellBatch, CellsAndProofs } from "./kzg/kzg.ts";

/** Fields shared by all column sidecars of a block. */
export type ColumnFrame = Pick<
  fulu.DataColumnSidecar,
  "kzgCommitments" | "signedBlockHeader" | "kzgCommitmentsInclusionProof"
>;

export function columnFrameOf(config: BeaconConfig, signed: SignedBeaconBlock): ColumnFrame {
  const { slot, body } = signed.message;
  const type = config.getForkTypes<ForkName.fulu>(slot).BeaconBlockBody;
  const { node } = type.toView(body as electra.BeaconBlockBody);
  return {
    kzgCommitments: commitmentsOf(signed),
    signedBlockHeader: signedHeaderOf(config, signed),
    kzgCommitmentsInclusionProof: branchOf(node, type.getPathInfo(["blobKzgCommitments"]).gindex),
  };
}

/**
 * fulu/validator.md, get_data_column_sidecars. Takes all cells and proofs of each blob. Returns all columns by default.
 */
export function columnSidecarsOf(
  frame: ColumnFrame,
  blobs: readonly CellsAndProofs[],
  columns: readonly number[] = ALL_COLUMNS,
): fulu.DataColumnSidecar[] {
  const { kzgCommitments, signedBlockHeader, kzgCommitmentsInclusionProof } = frame;
  return columns.map((index) => ({
    index,
    column: blobs.map(({ cells }) => cells[index]!),
    kzgCommitments,
    kzgProofs: blobs.map(({ proofs }) => proofs[index]!),
    signedBlockHeader,
    kzgCommitmentsInclusionProof,
  }));
}

export const ALL_COLUMNS: readonly number[] = Array.from({ length: NUMBER_OF_COLUMNS }, (_, index) => index);

/** fulu/p2p-interface.md, verify_data_column_sidecar. Returns the problem as a sentence, or undefined. */
export function faultOfColumn(config: BeaconConfig, sidecar: fulu.DataColumnSidecar): string | undefined {
  const { index, column, kzgCommitments, kzgProofs, signedBlockHeader } = sidecar;
  if (index >= NUMBER_OF_COLUMNS)
    return `Column index ${index} is out of range: the maximum is ${NUMBER_OF_COLUMNS - 1}.`;
  if (kzgCommitments.length === 0) return "A column sidecar must have at least one commitment.";
  const limit = config.getMaxBlobsPerBlock(computeEpochAtSlot(signedBlockHeader.message.slot));
  if (kzgCommitments.length > limit) return `It has ${kzgCommitments.length} commitments, the maximum is ${limit}.`;
  if (column.length !== kzgCommitments.length || kzgProofs.length !== kzgCommitments.length) {
    return `It has ${kzgCommitments.length} commitments, but ${column.length} cells and ${kzgProofs.length} proofs.`;
  }
  return undefined;
}

/** fulu/p2p-interface.md, verify_data_column_sidecar_inclusion_proof. */
export function verifyColumnInclusion(frame: ColumnFrame): boolean {
  return verifyMerkleBranch(
    ssz.deneb.BlobKzgCommitments.hashTreeRoot(frame.kzgCommitments),
    frame.kzgCommitmentsInclusionProof,
    KZG_COMMITMENTS_INCLUSION_PROOF_DEPTH,
    KZG_COMMITMENTS_SUBTREE_INDEX,
    frame.signedBlockHeader.message.bodyRoot,
  );
}

/** Batches the inputs for verify_data_column_sidecar_kzg_proofs. */
export function cellsOfColumns(sidecars: readonly fulu.DataColumnSidecar[]): CellBatch {
  return {
    commitments: sidecars.flatMap(({ kzgCommitments }) => kzgCommitments),
    cellIndices: sidecars.flatMap(({ index, column }) => column.map(() => index)),
    cells: sidecars.flatMap(({ column }) => column),
    proofs: sidecars.flatMap(({ kzgProofs }) => kzgProofs),
  };
}
