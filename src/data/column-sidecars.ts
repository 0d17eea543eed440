import type { BeaconConfig } from "@lodestar/config";
import {
  type ForkName,
  isForkPostGloas,
  KZG_COMMITMENTS_INCLUSION_PROOF_DEPTH,
  KZG_COMMITMENTS_SUBTREE_INDEX,
  NUMBER_OF_COLUMNS,
} from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { type deneb, type electra, type fulu, type gloas, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { verifyMerkleBranch } from "@lodestar/utils";
import { branchOf, commitmentsOf, signedHeaderOf } from "./commitments.ts";
import type { CellBatch, CellsAndProofs } from "./kzg/kzg.ts";
import type { ColumnSidecar } from "./sidecar.ts";

/** Fields shared by all column sidecars of a block from fulu to gloas. */
type HeaderFrame = Pick<
  fulu.DataColumnSidecar,
  "kzgCommitments" | "signedBlockHeader" | "kzgCommitmentsInclusionProof"
>;

/** Fields shared by all column sidecars of a block. */
export type ColumnFrame = HeaderFrame | Pick<gloas.DataColumnSidecar, "slot" | "beaconBlockRoot">;

export function columnFrameOf(config: BeaconConfig, signed: SignedBeaconBlock): ColumnFrame {
  const { slot, body } = signed.message;
  if (isForkPostGloas(config.getForkName(slot))) {
    const { BeaconBlock } = config.getForkTypes<ForkName.gloas>(slot);
    return { slot, beaconBlockRoot: BeaconBlock.hashTreeRoot(signed.message as gloas.BeaconBlock) };
  }
  const type = config.getForkTypes<ForkName.fulu>(slot).BeaconBlockBody;
  const { node } = type.toView(body as electra.BeaconBlockBody);
  return {
    kzgCommitments: commitmentsOf(signed),
    signedBlockHeader: signedHeaderOf(config, signed),
    kzgCommitmentsInclusionProof: branchOf(node, type.getPathInfo(["blobKzgCommitments"]).gindex),
  };
}

/**
 * get_data_column_sidecars (fulu/validator.md, gloas/builder.md). Takes all cells and proofs of each blob. Returns all
 * columns by default.
 */
export function columnSidecarsOf(
  frame: ColumnFrame,
  blobs: readonly CellsAndProofs[],
  columns: readonly number[] = ALL_COLUMNS,
): ColumnSidecar[] {
  return columns.map((index) => ({
    ...frame,
    index,
    column: blobs.map(({ cells }) => cells[index]!),
    kzgProofs: blobs.map(({ proofs }) => proofs[index]!),
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

/** gloas/p2p-interface.md, verify_data_column_sidecar. Returns the problem as a clause, or undefined. */
export function faultOfGloasColumn(
  { index, column, kzgProofs }: gloas.DataColumnSidecar,
  commitments: deneb.BlobKzgCommitments,
): string | undefined {
  if (index >= NUMBER_OF_COLUMNS) return `its index is out of range: the maximum is ${NUMBER_OF_COLUMNS - 1}.`;
  if (column.length === 0) return "it has no cells.";
  if (column.length !== commitments.length || kzgProofs.length !== column.length) {
    return `the bid has ${commitments.length} commitments, but it has ${column.length} cells and ${kzgProofs.length} proofs.`;
  }
  return undefined;
}

/** fulu/p2p-interface.md, verify_data_column_sidecar_inclusion_proof. */
export function verifyColumnInclusion(frame: HeaderFrame): boolean {
  return verifyMerkleBranch(
    ssz.deneb.BlobKzgCommitments.hashTreeRoot(frame.kzgCommitments),
    frame.kzgCommitmentsInclusionProof,
    KZG_COMMITMENTS_INCLUSION_PROOF_DEPTH,
    KZG_COMMITMENTS_SUBTREE_INDEX,
    frame.signedBlockHeader.message.bodyRoot,
  );
}

/** Column with the commitments of its block. */
export interface CommittedColumn {
  sidecar: ColumnSidecar;
  commitments: deneb.BlobKzgCommitments;
}

/** Batches the inputs for verify_data_column_sidecar_kzg_proofs. */
export function cellsOfColumns(columns: readonly CommittedColumn[]): CellBatch {
  const sidecars = columns.map(({ sidecar }) => sidecar);
  return {
    commitments: columns.flatMap(({ commitments }) => commitments),
    cellIndices: sidecars.flatMap(({ index, column }) => column.map(() => index)),
    cells: sidecars.flatMap(({ column }) => column),
    proofs: sidecars.flatMap(({ kzgProofs }) => kzgProofs),
  };
}
