import { Tree } from "@chainsafe/persistent-merkle-tree";
import type { ContainerType } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import { type ForkPostAltair, ForkSeq, ZERO_HASH } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  type CachedBeaconStateAltair,
  computeSyncPeriodAtSlot,
  executionPayloadToPayloadHeader,
} from "@lodestar/state-transition";
import { type LightClientUpdateSummary, upgradeLightClientHeader } from "@lodestar/state-transition/light-client";
import type {
  altair,
  BeaconBlock,
  bellatrix,
  deneb,
  gloas,
  LightClientBootstrap,
  LightClientFinalityUpdate,
  LightClientHeader,
  LightClientUpdate,
} from "@lodestar/types";
import { byteArrayEquals } from "@lodestar/utils";

// altair/light-client/full-node.md, "Deriving light client data".

interface SignedAttestedBlock {
  /** Sync aggregate from the child of the attested block. It signs the attested block. */
  syncAggregate: altair.SyncAggregate;
  signatureSlot: number;
  /** Header of the attested parent. */
  attestedHeader: LightClientHeader;
  attestedState: CachedBeaconStateAllForks;
  /** Header finalized by the attested state; null for genesis, undefined if it is not stored. */
  finalizedHeader: LightClientHeader | null | undefined;
}

export function createBootstrap(header: LightClientHeader, state: CachedBeaconStateAllForks): LightClientBootstrap {
  return {
    header,
    currentSyncCommittee: (state as CachedBeaconStateAltair).currentSyncCommittee.toValue(),
    currentSyncCommitteeBranch: stateProof(state, ["currentSyncCommittee"]),
  } as LightClientBootstrap;
}

/**
 * Creates an update without the next sync committee, which is large and needed only for the best update of a period.
 */
export function createFinalityUpdate(config: BeaconConfig, signed: SignedAttestedBlock): LightClientFinalityUpdate {
  const { syncAggregate, signatureSlot, attestedHeader, attestedState, finalizedHeader } = signed;
  const { slot } = attestedHeader.beacon;
  const fork = config.getForkName(slot) as ForkPostAltair;
  const empty = config.getPostAltairForkTypes(slot).LightClientFinalityUpdate.defaultValue();
  return {
    attestedHeader,
    finalizedHeader: finalizedHeader ? headerInFork(config, fork, finalizedHeader) : empty.finalizedHeader,
    finalityBranch:
      finalizedHeader === undefined ? empty.finalityBranch : stateProof(attestedState, ["finalizedCheckpoint", "root"]),
    syncAggregate,
    signatureSlot,
  } as LightClientFinalityUpdate;
}

export function withNextSyncCommittee(
  update: LightClientFinalityUpdate,
  attestedState: CachedBeaconStateAllForks,
): LightClientUpdate {
  return {
    ...update,
    nextSyncCommittee: (attestedState as CachedBeaconStateAltair).nextSyncCommittee.toValue(),
    nextSyncCommitteeBranch: stateProof(attestedState, ["nextSyncCommittee"]),
  } as LightClientUpdate;
}

/** Summarizes an update for comparison (is_better_update). */
export function summaryOf(update: LightClientFinalityUpdate): LightClientUpdateSummary {
  return {
    activeParticipants: participants(update.syncAggregate),
    attestedHeaderSlot: update.attestedHeader.beacon.slot,
    signatureSlot: update.signatureSlot,
    finalizedHeaderSlot: update.finalizedHeader.beacon.slot,
    isSyncCommitteeUpdate: isSignedInSamePeriod(update),
    isFinalityUpdate: update.finalityBranch.some((node) => !byteArrayEquals(node, ZERO_HASH)),
  };
}

/** The next sync committee is useful only if the current committee signed the update. */
function isSignedInSamePeriod({ attestedHeader, signatureSlot }: LightClientFinalityUpdate): boolean {
  return computeSyncPeriodAtSlot(attestedHeader.beacon.slot) === computeSyncPeriodAtSlot(signatureSlot);
}

export function participants({ syncCommitteeBits }: altair.SyncAggregate): number {
  return syncCommitteeBits.getTrueBitIndexes().length;
}

function stateProof(state: CachedBeaconStateAllForks, path: string[]): Uint8Array[] {
  state.commit();
  return new Tree(state.node).getSingleProof(state.type.getPathInfo(path).gindex);
}

type BodyType = ContainerType<Record<string, never>>;

/** gloas/light-client/full-node.md, block_to_light_client_header, in the format of the block's fork. */
export function blockToLightClientHeader(config: BeaconConfig, block: BeaconBlock): LightClientHeader {
  const { slot, proposerIndex, parentRoot, stateRoot, body } = block;
  const bodyType = config.getForkTypes(slot).BeaconBlockBody as unknown as BodyType;
  const view = bodyType.toView(body as never);
  const beacon = { slot, proposerIndex, parentRoot, stateRoot, bodyRoot: view.hashTreeRoot() };
  const forkSeq = config.getForkSeq(slot);
  if (forkSeq < ForkSeq.capella) return { beacon };
  // A gloas block contains only the bid for its own payload, but its parent hash is certain to be an executed payload.
  if (forkSeq >= ForkSeq.gloas) {
    const { gindex } = bodyType.getPathInfo(["signedExecutionPayloadBid", "message", "parentBlockHash"]);
    return {
      beacon,
      executionBlockHash: (body as gloas.BeaconBlockBody).signedExecutionPayloadBid.message.parentBlockHash,
      executionBranch: new Tree(view.node).getSingleProof(gindex),
    };
  }
  const { executionPayload } = body as bellatrix.BeaconBlockBody;
  const { gindex } = bodyType.getPathInfo(["executionPayload"]);
  return {
    beacon,
    execution: executionPayloadToPayloadHeader(forkSeq, executionPayload),
    executionBranch: new Tree(view.node).getSingleProof(gindex),
  } as LightClientHeader;
}

/** Converts a header to the format of a later fork. */
function headerInFork(config: BeaconConfig, fork: ForkPostAltair, header: LightClientHeader): LightClientHeader {
  if (config.getForkSeq(header.beacon.slot) >= ForkSeq[fork]) return header;
  // `upgradeLightClientHeader` mutates its argument.
  const copy = { ...header } as deneb.LightClientHeader;
  if (copy.execution) copy.execution = { ...copy.execution };
  return upgradeLightClientHeader(config, fork, copy);
}
