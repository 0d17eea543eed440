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

/** Object type of each topic kind. */
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

/** Returns the SSZ type of messages on a topic (phase0 to fulu/p2p-interface.md, Topics and messages). */
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

/** Returns the possible SSZ sizes of a message on a topic. */
export function sizeBounds(
  { kind, boundary }: Pick<GossipTopic, "kind" | "boundary">,
  config: BeaconConfig,
): { min: number; max: number } {
  const { minSize, maxSize } = typeOf(kind, boundary.fork);
  // The type allows thousands of blobs, but the blob schedule only a few.
  const ofBlobs = kind === "data_column_sidecar" ? minSize + columnBytes(config, boundary.epoch) : maxSize;
  return { min: minSize, max: Math.min(ofBlobs, config.MAX_PAYLOAD_SIZE) };
}

/** Returns the number of bytes per blob: a cell, a commitment and a proof. */
function columnBytes(config: BeaconConfig, epoch: Epoch): number {
  const { KZGCommitment, KZGProof } = ssz.deneb;
  const bytesPerBlob = ssz.fulu.Cell.fixedSize + KZGCommitment.fixedSize + KZGProof.fixedSize;
  return config.getMaxBlobsPerBlock(epoch) * bytesPerBlob;
}

/** Returns the slot that determines the fork of an object's topic. Undefined for objects that use the current fork. */
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

/** Validation result: forward the message, drop it, or drop it and penalize the sender. */
export type Verdict = "accept" | "ignore" | "reject";

/** A message decoded with the type of its topic. */
export interface ReceivedMessage<K extends TopicKind = TopicKind> {
  topic: GossipTopic;
  object: GossipObjects[K];
  /** SSZ size. */
  bytes: number;
  /** The forwarding peer in base58btc. The message's author is unknown. */
  peerId: string;
  /** Reports the validation result. Only the first call has an effect. */
  report(verdict: Verdict): void;
}
