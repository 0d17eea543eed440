import { createProof, type Node, ProofType, type SingleProof } from "@chainsafe/persistent-merkle-tree";
import type { BeaconConfig } from "@lodestar/config";
import type { deneb, gloas, phase0, SignedBeaconBlock } from "@lodestar/types";

/** Returns the blob commitments of a block: since gloas those in its bid, before Deneb none. */
export function commitmentsOf({ message }: Pick<SignedBeaconBlock, "message">): deneb.BlobKzgCommitments {
  const body = message.body as Partial<deneb.BeaconBlockBody & gloas.BeaconBlockBody>;
  return body.signedExecutionPayloadBid?.message.blobKzgCommitments ?? body.blobKzgCommitments ?? [];
}

/** deneb/beacon-chain.md, compute_signed_block_header. */
export function signedHeaderOf(
  config: BeaconConfig,
  { message, signature }: SignedBeaconBlock,
): phase0.SignedBeaconBlockHeader {
  const { slot, proposerIndex, parentRoot, stateRoot, body } = message;
  const bodyRoot = config.getForkTypes(slot).BeaconBlockBody.hashTreeRoot(body);
  return { message: { slot, proposerIndex, parentRoot, stateRoot, bodyRoot }, signature };
}

/** compute_merkle_proof: the branch from a node to the root. */
export function branchOf(root: Node, gindex: bigint): Uint8Array[] {
  return (createProof(root, { type: ProofType.single, gindex }) as SingleProof).witnesses;
}
