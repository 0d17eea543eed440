import type { Type } from "@chainsafe/ssz";
import { type ForkName, isForkPostElectra } from "@lodestar/params";
import {
  type AttesterSlashing,
  type altair,
  type capella,
  type phase0,
  type SignedAggregateAndProof,
  type SignedBeaconBlock,
  type SingleAttestation,
  ssz,
  sszTypesFor,
} from "@lodestar/types";
import type { GossipTopic, TopicKind } from "./topics.ts";

/** What the messages of each kind of topic carry. */
export interface GossipObjects {
  beacon_block: SignedBeaconBlock;
  beacon_aggregate_and_proof: SignedAggregateAndProof;
  beacon_attestation: phase0.Attestation | SingleAttestation;
  voluntary_exit: phase0.SignedVoluntaryExit;
  proposer_slashing: phase0.ProposerSlashing;
  attester_slashing: AttesterSlashing;
  sync_committee_contribution_and_proof: altair.SignedContributionAndProof;
  sync_committee: altair.SyncCommitteeMessage;
  bls_to_execution_change: capella.SignedBLSToExecutionChange;
}

/** The tables "Topics and messages" of the networking specifications, from phase0 to electra. */
export function messageType<K extends TopicKind>(kind: K, fork: ForkName): Type<GossipObjects[K]> {
  return typeOf(kind, fork) as Type<unknown> as Type<GossipObjects[K]>;
}

function typeOf(kind: TopicKind, fork: ForkName) {
  const types = sszTypesFor(fork);
  switch (kind) {
    case "beacon_block":
      return types.SignedBeaconBlock;
    case "beacon_aggregate_and_proof":
      return types.SignedAggregateAndProof;
    case "beacon_attestation":
      return isForkPostElectra(fork) ? ssz.electra.SingleAttestation : ssz.phase0.Attestation;
    case "voluntary_exit":
      return ssz.phase0.SignedVoluntaryExit;
    case "proposer_slashing":
      return ssz.phase0.ProposerSlashing;
    case "attester_slashing":
      return types.AttesterSlashing;
    case "sync_committee_contribution_and_proof":
      return ssz.altair.SignedContributionAndProof;
    case "sync_committee":
      return ssz.altair.SyncCommitteeMessage;
    case "bls_to_execution_change":
      return ssz.capella.SignedBLSToExecutionChange;
  }
}

/** How many bytes of SSZ a message of the kind can have at all. */
export function sizeBounds(kind: TopicKind, fork: ForkName, maxPayloadSize: number): { min: number; max: number } {
  const { minSize, maxSize } = typeOf(kind, fork);
  return { min: minSize, max: Math.min(maxSize, maxPayloadSize) };
}

/** The slot that decides on which fork's topic an object belongs; undefined for those that belong to the current one. */
export function contextSlot<K extends TopicKind>(kind: K, object: GossipObjects[K]): number | undefined {
  switch (kind) {
    case "beacon_block":
      return (object as GossipObjects["beacon_block"]).message.slot;
    case "beacon_aggregate_and_proof":
      return (object as GossipObjects["beacon_aggregate_and_proof"]).message.aggregate.data.slot;
    case "beacon_attestation":
      return (object as GossipObjects["beacon_attestation"]).data.slot;
    case "sync_committee_contribution_and_proof":
      return (object as GossipObjects["sync_committee_contribution_and_proof"]).message.contribution.slot;
    case "sync_committee":
      return (object as GossipObjects["sync_committee"]).slot;
    default:
      return undefined;
  }
}

/** What the network is told about a message: propagate it, forget it, or forget it and hold it against its sender. */
export type Verdict = "accept" | "ignore" | "reject";

/** A message whose bytes are of the type of its topic. */
export interface ReceivedMessage<K extends TopicKind = TopicKind> {
  topic: GossipTopic;
  object: GossipObjects[K];
  /** Who passed it on, in base58btc; not the author, whom nobody knows. */
  peerId: string;
  /** The first verdict counts. */
  report(verdict: Verdict): void;
}
