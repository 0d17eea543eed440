import type { BeaconConfig, ChainConfig } from "@lodestar/config";
import {
  type ForkName,
  ForkSeq,
  KZG_COMMITMENT_INCLUSION_PROOF_DEPTH,
  KZG_COMMITMENT_SUBTREE_INDEX0,
} from "@lodestar/params";
import { type deneb, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { verifyMerkleBranch } from "@lodestar/utils";
import { branchOf, commitmentsOf, signedHeaderOf } from "./commitments.ts";
import type { BlobBatch } from "./kzg/kzg.ts";

/** deneb/validator.md, get_blob_sidecars. Takes one proof per blob. */
export function blobSidecarsOf(
  config: BeaconConfig,
  signed: SignedBeaconBlock,
  { blobs, proofs }: { blobs: readonly Uint8Array[]; proofs: readonly Uint8Array[] },
): deneb.BlobSidecar[] {
  const { slot, body } = signed.message;
  const type = config.getForkTypes<ForkName.deneb>(slot).BeaconBlockBody;
  const { node } = type.toView(body as deneb.BeaconBlockBody);
  const signedBlockHeader = signedHeaderOf(config, signed);
  return commitmentsOf(signed).map((kzgCommitment, index) => ({
    index,
    blob: blobs[index]!,
    kzgCommitment,
    kzgProof: proofs[index]!,
    signedBlockHeader,
    kzgCommitmentInclusionProof: branchOf(node, type.getPathInfo(["blobKzgCommitments", index]).gindex),
  }));
}

/** deneb/p2p-interface.md and electra/p2p-interface.md, Configuration. */
export function blobSubnetCount(
  {
    BLOB_SIDECAR_SUBNET_COUNT,
    BLOB_SIDECAR_SUBNET_COUNT_ELECTRA,
  }: Pick<ChainConfig, "BLOB_SIDECAR_SUBNET_COUNT" | "BLOB_SIDECAR_SUBNET_COUNT_ELECTRA">,
  fork: ForkSeq,
): number {
  return fork >= ForkSeq.electra ? BLOB_SIDECAR_SUBNET_COUNT_ELECTRA : BLOB_SIDECAR_SUBNET_COUNT;
}

/** deneb/p2p-interface.md, verify_blob_sidecar_inclusion_proof. */
export function verifyBlobInclusion(sidecar: deneb.BlobSidecar): boolean {
  return verifyMerkleBranch(
    ssz.deneb.KZGCommitment.hashTreeRoot(sidecar.kzgCommitment),
    sidecar.kzgCommitmentInclusionProof,
    KZG_COMMITMENT_INCLUSION_PROOF_DEPTH,
    KZG_COMMITMENT_SUBTREE_INDEX0 + sidecar.index,
    sidecar.signedBlockHeader.message.bodyRoot,
  );
}

/** Batches the inputs for verify_blob_kzg_proof. */
export function blobsOfSidecars(sidecars: readonly deneb.BlobSidecar[]): BlobBatch {
  return {
    blobs: sidecars.map(({ blob }) => blob),
    commitments: sidecars.map(({ kzgCommitment }) => kzgCommitment),
    proofs: sidecars.map(({ kzgProof }) => kzgProof),
  };
}
