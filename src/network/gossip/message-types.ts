import type { Type } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import {
  type ForkName,
  isForkPostElectra,
  isForkPostGloas,
  MAX_ATTESTER_SLASHING_SIZE,
  MAX_DATA_COLUMN_SIDECAR_SIZE,
  MAX_SIGNED_AGGREGATE_AND_PROOF_SIZE,
  MAX_SIGNED_EXECUTION_PAYLOAD_BID_SIZE,
} from "@lodestar/params";
import {
  type AttesterSlashing,
  type altair,
  type capella,
  type deneb,
  type Epoch,
  type gloas,
  type phase0,
  type SignedAggregateAndProof,
  type SignedBeaconBlock,
  type SingleAttestation,
  ssz,
  sszTypesFor,
} from "@lodestar/types";
import { type ColumnSidecar, type DataSidecar, slotOfSidecar } from "../../data/sidecar.ts";
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
  data_column_sidecar: ColumnSidecar;
  execution_payload: gloas.SignedExecutionPayloadEnvelope;
  execution_payload_bid: gloas.SignedExecutionPayloadBid;
  payload_attestation_message: gloas.PayloadAttestationMessage;
  proposer_preferences: gloas.SignedProposerPreferences;
}

/** Returns the SSZ type of messages on a topic (phase0 to gloas/p2p-interface.md, Topics and messages). */
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
      return isForkPostGloas(fork) ? ssz.gloas.DataColumnSidecar : ssz.fulu.DataColumnSidecar;
    case "execution_payload":
      return ssz.gloas.SignedExecutionPayloadEnvelope;
    case "execution_payload_bid":
      return ssz.gloas.SignedExecutionPayloadBid;
    case "payload_attestation_message":
      return ssz.gloas.PayloadAttestationMessage;
    case "proposer_preferences":
      return ssz.gloas.SignedProposerPreferences;
  }
}

/** Returns the possible SSZ sizes of a message on a topic. */
export function sizeBounds(
  { kind, boundary }: Pick<GossipTopic, "kind" | "boundary">,
  config: BeaconConfig,
): { min: number; max: number } {
  const { fork, epoch } = boundary;
  const { minSize, maxSize } = typeOf(kind, fork);
  const bounds = [maxSize, config.MAX_PAYLOAD_SIZE];
  // Progressive lists have no limit of their own.
  const ofProgressiveType = isForkPostGloas(fork) ? PROGRESSIVE_SIZES[kind] : undefined;
  if (ofProgressiveType !== undefined) bounds.push(ofProgressiveType);
  // The type allows thousands of blobs, but the blob schedule only a few.
  if (kind === "data_column_sidecar") bounds.push(minSize + columnBytes(config, epoch));
  return { min: minSize, max: Math.min(...bounds) };
}

/** gloas/p2p-interface.md, Type-specific SSZ bounds */
const PROGRESSIVE_SIZES: Partial<Record<TopicKind, number>> = {
  beacon_aggregate_and_proof: MAX_SIGNED_AGGREGATE_AND_PROOF_SIZE,
  attester_slashing: MAX_ATTESTER_SLASHING_SIZE,
  data_column_sidecar: MAX_DATA_COLUMN_SIDECAR_SIZE,
  execution_payload_bid: MAX_SIGNED_EXECUTION_PAYLOAD_BID_SIZE,
};

/** Returns the number of bytes per blob: a cell, a proof and, before gloas, a commitment. */
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
    case "execution_payload":
      return (object as GossipObjects["execution_payload"]).message.payload.slotNumber;
    case "execution_payload_bid":
      return (object as GossipObjects["execution_payload_bid"]).message.slot;
    case "payload_attestation_message":
      return (object as GossipObjects["payload_attestation_message"]).data.slot;
    case "proposer_preferences":
      return (object as GossipObjects["proposer_preferences"]).message.proposalSlot;
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
