import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { verifyColumnInclusion } from "../../src/data/column-sidecars.ts";
import { branchOf } from "../../src/data/commitments.ts";
import { exactType } from "../support/vectors/exact-type.ts";
import { titled } from "../support/vectors/sample.ts";
import { vectorCases } from "../support/vectors/vector-source.ts";

const { BeaconBlockBody } = ssz.fulu;

it.each(titled(vectorCases("fulu", "merkle_proof")))("columns prove their commitments: %s", (_, vector) => {
  const bytes = vector.bytes("object");
  // Blocks of the vectors have random integers beyond 2^53.
  const body = exactType(BeaconBlockBody).deserializeToViewDU(bytes) as ReturnType<typeof BeaconBlockBody.toViewDU>;
  const proof = branchOf(body.node, BeaconBlockBody.getPathInfo(["blobKzgCommitments"]).gindex);
  const { leaf, branch } = vector.yaml<{ leaf: string; branch: string[] }>("proof");
  expect(proof.map(toRootHex)).toEqual(branch);

  const kzgCommitments = BeaconBlockBody.deserialize(bytes).blobKzgCommitments;
  expect(toRootHex(ssz.deneb.BlobKzgCommitments.hashTreeRoot(kzgCommitments))).toBe(leaf);
  const signedBlockHeader = ssz.phase0.SignedBeaconBlockHeader.defaultValue();
  signedBlockHeader.message.bodyRoot = body.hashTreeRoot();
  const frame = { kzgCommitments, signedBlockHeader, kzgCommitmentsInclusionProof: proof };
  expect(verifyColumnInclusion(frame)).toBe(true);
  const [first, ...rest] = proof;
  const wrong = [Uint8Array.from(first!, (byte) => byte ^ 1), ...rest];
  expect(verifyColumnInclusion({ ...frame, kzgCommitmentsInclusionProof: wrong })).toBe(false);
});
