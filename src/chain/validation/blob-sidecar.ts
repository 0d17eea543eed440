import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { deneb, RootHex } from "@lodestar/types";
import { blobsOfSidecars, verifyBlobInclusion } from "../../data/blob-sidecars.ts";
import type { ValidationContext } from "./context.ts";
import { reject } from "./outcome.ts";
import { type SidecarRules, validateSidecar } from "./sidecar.ts";

const SUBJECT = "The blob sidecar";

/**
 * Validates a sidecar from the gossip topic blob_sidecar_{subnet_id} (p2p-interface.md of deneb and electra). Returns
 * the block root. Throws a `GossipValidationError`.
 */
export function validateBlobSidecar(
  context: ValidationContext,
  sidecar: deneb.BlobSidecar,
  subnet: number,
): Promise<RootHex> {
  return validateSidecar(context, sidecar, subnet, RULES);
}

const RULES: SidecarRules<deneb.BlobSidecar> = {
  what: SUBJECT,
  refuseWrongForm(config, sidecar) {
    refuseOtherFork(config, sidecar);
    refuseWrongIndex(config, sidecar);
  },
  verifyInclusion: verifyBlobInclusion,
  verifyProof: (kzg, sidecar) => kzg.verifyBlobs(blobsOfSidecars([sidecar])),
};

function refuseOtherFork(config: BeaconConfig, { signedBlockHeader }: deneb.BlobSidecar): void {
  const { slot } = signedBlockHeader.message;
  const fork = config.getForkSeq(slot);
  if (fork >= ForkSeq.deneb && fork < ForkSeq.fulu) return;
  throw reject(
    "wrong-fork",
    `${SUBJECT} is for slot ${slot} (${config.getForkName(slot)}): only deneb and electra have blob sidecars.`,
  );
}

function refuseWrongIndex(config: BeaconConfig, { index, signedBlockHeader }: deneb.BlobSidecar): void {
  const limit = config.getMaxBlobsPerBlock(computeEpochAtSlot(signedBlockHeader.message.slot));
  if (index < limit) return;
  throw reject("blob-index-out-of-range", `${SUBJECT} has index ${index}, the maximum is ${limit - 1}.`);
}
