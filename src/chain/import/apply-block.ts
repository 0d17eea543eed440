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
import { withBlock } from "../states/advance.ts";
import { BlockRejection } from "./block-rejection.ts";

/** The transition takes the header of a payload as well as the payload. */
export type AnySignedBlock = SignedBeaconBlock | SignedBlindedBeaconBlock;

export interface ReadBlock {
  indexedAttestations: IndexedAttestation[];
  /** Whether the block has a payload for the execution engine (bellatrix/beacon-chain.md, is_execution_enabled). */
  hasPayload: boolean;
  /** Whether that payload is the first of the chain (bellatrix/beacon-chain.md, is_merge_transition_block). */
  isMergeTransition: boolean;
}

/** What a block says on its pre-state (the parent's state advanced to the block's slot), before anything of it is verified. */
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
      `The proposer of slot ${slot} is validator ${expectedProposer}, not ${proposerIndex}.`,
    );
  }
  try {
    const fork = config.getForkSeq(slot);
    const indexedAttestations = body.attestations.map((attestation) =>
      preState.epochCtx.getIndexedAttestation(fork, attestation),
    );
    const hasPayload = isExecutionStateType(preState) && isExecutionEnabled(preState, signed.message);
    const isMergeTransition = hasPayload && !isMergeTransitionComplete(preState);
    return { indexedAttestations, hasPayload, isMergeTransition };
  } catch (error) {
    throw invalidTransition(slot, error);
  }
}

/** Everything that has to be signed in a block. */
export function signatureSetsOf(
  config: BeaconConfig,
  signed: AnySignedBlock,
  preState: CachedBeaconStateAllForks,
  { indexedAttestations }: ReadBlock,
): ISignatureSet[] {
  const { slot } = signed.message;
  const { epochCtx } = preState;
  try {
    const hasSyncCommittee = config.getForkSeq(slot) >= ForkSeq.altair;
    const syncCommittee = hasSyncCommittee ? epochCtx.currentSyncCommitteeIndexed : new SyncCommitteeCacheEmpty();
    const view = new BeaconStateView(preState);
    // A payload is not signed by anybody.
    return getBlockSignatureSets(config, syncCommittee, view, signed as SignedBeaconBlock, indexedAttestations);
  } catch (error) {
    throw invalidTransition(slot, error);
  }
}

/**
 * The state after a block, which is the one that the block claims. Signatures and payload are not looked at. Where the node
 * has produced just this block, it has made the state already.
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
    postState = withBlock(preState, signed);
  } catch (error) {
    throw invalidTransition(slot, error);
  }
  const actual = toRootHex(postState.hashTreeRoot());
  const claimed = toRootHex(stateRoot);
  if (actual !== claimed) {
    throw new BlockRejection("wrong-state-root", `The block claims state root ${claimed}, but leads to ${actual}.`);
  }
  return postState;
}

function invalidTransition(slot: number, error: unknown): BlockRejection {
  const detail = error instanceof Error ? error.message : String(error);
  return new BlockRejection(
    "invalid-transition",
    `The block of slot ${slot} breaks a consensus rule: ${detail}`,
    error,
  );
}
