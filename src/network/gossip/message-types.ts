import type { Type } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import { type ForkName, isForkPostElectra } from "@lodestar/params";
import {
  type AttesterSlashing,
  type altair,
  type capella,
  type deneb,
  type Epoch,
  type fulu,
  type phase0,
  type SignedAggregateAndProof,
  type SignedBeaconBlock,
  type SingleAttestation,
  ssz,
  sszTypesFor,
} from "@lodestar/types";
import { type DataSidecar, slotOfSidecar } from "../../data/sidecar.ts";
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
  blob_sidecar: deneb.BlobSidecar;
  data_column_sidecar: fulu.DataColumnSidecar;
}

/** The tables "Topics and messages" of the networking specifications, from phase0 to fulu. */
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
    case "blob_sidecar":
      return ssz.deneb.BlobSidecar;
    case "data_column_sidecar":
      return ssz.fulu.DataColumnSidecar;
  }
}

/** How many bytes of SSZ a message of the topic can have at all. */
export function sizeBounds(
  { kind, boundary }: Pick<GossipTopic, "kind" | "boundary">,
  config: BeaconConfig,
): { min: number; max: number } {
  const { minSize, maxSize } = typeOf(kind, boundary.fork);
  // The type has room for thousands of blobs, and the blob parameters for a few.
  const ofBlobs = kind === "data_column_sidecar" ? minSize + columnBytes(config, boundary.epoch) : maxSize;
  return { min: minSize, max: Math.min(ofBlobs, config.MAX_PAYLOAD_SIZE) };
}

/** A cell, a commitment and a proof of each blob. */
function columnBytes(config: BeaconConfig, epoch: Epoch): number {
  const { KZGCommitment, KZGProof } = ssz.deneb;
  const bytesPerBlob = ssz.fulu.Cell.fixedSize + KZGCommitment.fixedSize + KZGProof.fixedSize;
  return config.getMaxBlobsPerBlock(epoch) * bytesPerBlob;
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
    case "blob_sidecar":
    case "data_column_sidecar":
      return slotOfSidecar(object as DataSidecar);
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
  /** Of its SSZ. */
  bytes: number;
  /** Who passed it on, in base58btc; not the author, whom nobody knows. */
  peerId: string;
  /** The first verdict counts. */
  report(verdict: Verdict): void;
}
