import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import {
  BeaconStateView,
  type CachedBeaconStateAllForks,
  getBlockSignatureSets,
  type ISignatureSet,
  isExecutionEnabled,
  isExecutionStateType,
  isMergeTransitionComplete,
  SyncCommitteeCacheEmpty,
} from "@lodestar/state-transition";
import type { IndexedAttestation, SignedBeaconBlock, SignedBlindedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { processBlock } from "../states/advance.ts";
import { payloadAttestationSignatureSets } from "../states/payload-attestations.ts";
import { BlockRejection } from "./block-rejection.ts";

/** Full or blinded block. The state transition accepts both. */
export type AnySignedBlock = SignedBeaconBlock | SignedBlindedBeaconBlock;

export interface ReadBlock {
  indexedAttestations: IndexedAttestation[];
  /** True if the block contains an execution payload (bellatrix/beacon-chain.md, is_execution_enabled). */
  hasPayload: boolean;
  /** True since gloas: the payload arrives in an envelope of its own. */
  hasEnvelope: boolean;
  /** True for the merge transition block (bellatrix/beacon-chain.md, is_merge_transition_block). */
  isMergeTransition: boolean;
}

/**
 * Checks the proposer and extracts the inputs for verification. `preState` is the parent's state advanced to the
 * block's slot. Throws a `BlockRejection`.
 */
export function readBlock(
  config: BeaconConfig,
  signed: AnySignedBlock,
  preState: CachedBeaconStateAllForks,
): ReadBlock {
  const { slot, proposerIndex, body } = signed.message;
  const expectedProposer = preState.epochCtx.getBeaconProposer(slot);
  if (proposerIndex !== expectedProposer) {
    throw new BlockRejection(
      "wrong-proposer",
      `Wrong proposer ${proposerIndex} at slot ${slot}, expected validator ${expectedProposer}.`,
    );
  }
  try {
    const fork = config.getForkSeq(slot);
    const indexedAttestations = body.attestations.map((attestation) =>
      preState.epochCtx.getIndexedAttestation(fork, attestation),
    );
    const hasEnvelope = fork >= ForkSeq.gloas;
    const hasPayload = !hasEnvelope && isExecutionStateType(preState) && isExecutionEnabled(preState, signed.message);
    const isMergeTransition = hasPayload && !isMergeTransitionComplete(preState);
    return { indexedAttestations, hasPayload, hasEnvelope, isMergeTransition };
  } catch (error) {
    throw invalidTransition(slot, error);
  }
}

/** Returns the signature sets that must be verified for a block. Throws a `BlockRejection`. */
export function signatureSetsOf(
  config: BeaconConfig,
  signed: AnySignedBlock,
  preState: CachedBeaconStateAllForks,
  { indexedAttestations }: ReadBlock,
  options?: { skipProposerSignature: boolean },
): ISignatureSet[] {
  const { slot } = signed.message;
  const { epochCtx } = preState;
  try {
    const hasSyncCommittee = config.getForkSeq(slot) >= ForkSeq.altair;
    const syncCommittee = hasSyncCommittee ? epochCtx.currentSyncCommitteeIndexed : new SyncCommitteeCacheEmpty();
    const view = new BeaconStateView(preState);
    // Payloads are not signed.
    return [
      ...getBlockSignatureSets(config, syncCommittee, view, signed as SignedBeaconBlock, indexedAttestations, options),
      ...payloadAttestationSignatureSets(preState, signed.message),
    ];
  } catch (error) {
    throw invalidTransition(slot, error);
  }
}

/**
 * Applies the state transition and checks the state root. Does not verify signatures or the payload. If this node
 * produced the block, `producedState` is its post-state, and the transition is skipped. Throws a `BlockRejection`.
 */
export function applyBlock(
  signed: AnySignedBlock,
  preState: CachedBeaconStateAllForks,
  producedState?: CachedBeaconStateAllForks,
): CachedBeaconStateAllForks {
  const { slot, stateRoot } = signed.message;
  if (producedState) return producedState;
  let postState: CachedBeaconStateAllForks;
  try {
    postState = processBlock(preState, signed);
  } catch (error) {
    throw invalidTransition(slot, error);
  }
  const actual = toRootHex(postState.hashTreeRoot());
  const claimed = toRootHex(stateRoot);
  if (actual !== claimed) {
    throw new BlockRejection(
      "wrong-state-root",
      `Wrong state root: the block has ${claimed}, the transition gives ${actual}.`,
    );
  }
  return postState;
}

function invalidTransition(slot: number, error: unknown): BlockRejection {
  const detail = error instanceof Error ? error.message : String(error);
  return new BlockRejection("invalid-transition", `Invalid state transition at slot ${slot}: ${detail}`, error);
}
