import type {
  AttesterSlashing,
  altair,
  capella,
  gloas,
  phase0,
  SignedAggregateAndProof,
  SignedBeaconBlock,
  SingleAttestation,
} from "@lodestar/types";
import type { DataSidecar } from "../data/sidecar.ts";

/**
 * Publishes locally submitted objects to gossip once they have passed validation. Fire and forget: a submission does
 * not fail if the node has no peers.
 */
export interface Broadcast {
  block(signed: SignedBeaconBlock): void;
  /** Publishes blob or column sidecars, which may belong to several blocks. */
  sidecars(sidecars: readonly DataSidecar[]): void;
  attestation(attestation: SingleAttestation, subnet: number): void;
  aggregate(aggregate: SignedAggregateAndProof): void;
  syncMessage(message: altair.SyncCommitteeMessage, subnet: number): void;
  contribution(contribution: altair.SignedContributionAndProof): void;
  voluntaryExit(exit: phase0.SignedVoluntaryExit): void;
  proposerSlashing(slashing: phase0.ProposerSlashing): void;
  attesterSlashing(slashing: AttesterSlashing): void;
  blsToExecutionChange(change: capella.SignedBLSToExecutionChange): void;
  /** Publishes the payload of a block since gloas. */
  payload(envelope: gloas.SignedExecutionPayloadEnvelope): void;
  payloadAttestation(message: gloas.PayloadAttestationMessage): void;
  executionBid(bid: gloas.SignedExecutionPayloadBid): void;
  proposerPreferences(preferences: gloas.SignedProposerPreferences): void;
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
  payload() {},
  payloadAttestation() {},
  executionBid() {},
  proposerPreferences() {},
};
