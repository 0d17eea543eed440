import type {
  AttesterSlashing,
  altair,
  capella,
  phase0,
  SignedAggregateAndProof,
  SignedBeaconBlock,
  SingleAttestation,
} from "@lodestar/types";
import type { DataSidecar } from "../data/sidecar.ts";

/**
 * Broadcasts what was submitted to this node and passed the gossip rules. Nobody waits for it: that no peer is there to
 * take a message is no failure of the submission.
 */
export interface Broadcast {
  block(signed: SignedBeaconBlock): void;
  /** Of blobs or columns, of one block or several. */
  sidecars(sidecars: readonly DataSidecar[]): void;
  attestation(attestation: SingleAttestation, subnet: number): void;
  aggregate(aggregate: SignedAggregateAndProof): void;
  syncMessage(message: altair.SyncCommitteeMessage, subnet: number): void;
  contribution(contribution: altair.SignedContributionAndProof): void;
  voluntaryExit(exit: phase0.SignedVoluntaryExit): void;
  proposerSlashing(slashing: phase0.ProposerSlashing): void;
  attesterSlashing(slashing: AttesterSlashing): void;
  blsToExecutionChange(change: capella.SignedBLSToExecutionChange): void;
}

/** Of a node that speaks to no other. */
export const NO_BROADCAST: Broadcast = {
  block() {},
  sidecars() {},
  attestation() {},
  aggregate() {},
  syncMessage() {},
  contribution() {},
  voluntaryExit() {},
  proposerSlashing() {},
  attesterSlashing() {},
  blsToExecutionChange() {},
};
