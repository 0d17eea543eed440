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
 * Publishes locally submitted objects to gossip after they passed validation. Fire and forget: a node without peers
 * does not fail the submission.
 */
export interface Broadcast {
  block(signed: SignedBeaconBlock): void;
  /** Blob or column sidecars, of one or several blocks. */
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

/** Used by a node without networking. */
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
