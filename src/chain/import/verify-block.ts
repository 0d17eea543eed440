import type { BeaconConfig } from "@lodestar/config";
import { type ForkPostBellatrix, ForkSeq } from "@lodestar/params";
import {
  BeaconStateView,
  type CachedBeaconStateAllForks,
  DataAvailabilityStatus,
  ExecutionPayloadStatus,
  getBlockSignatureSets,
  type ISignatureSet,
  isExecutionEnabled,
  isExecutionStateType,
  SyncCommitteeCacheEmpty,
  stateTransition,
} from "@lodestar/state-transition";
import type { deneb, electra, IndexedAttestation, SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { ExecutionEngine } from "../../execution/engine.ts";
import { versionedHashesOf } from "../../execution/versioned-hashes.ts";
import type { ForkChoiceExecution } from "../fork-choice/types.ts";
import { BlockRejection } from "./block-rejection.ts";

export interface VerifiedBlock {
  state: CachedBeaconStateAllForks;
  indexedAttestations: IndexedAttestation[];
  execution: ForkChoiceExecution;
}

interface Verifiers {
  config: BeaconConfig;
  /** Null for blocks whose signatures were verified before. */
  bls: BlsVerifier | null;
  engine: ExecutionEngine;
}

/** Everything that makes a block valid on its pre-state (the parent's state advanced to the block's slot). */
export async function verifyBlock(
  signed: SignedBeaconBlock,
  preState: CachedBeaconStateAllForks,
  { config, bls, engine }: Verifiers,
): Promise<VerifiedBlock> {
  const block = signed.message;
  const expectedProposer = preState.epochCtx.getBeaconProposer(block.slot);
  if (block.proposerIndex !== expectedProposer) {
    throw new BlockRejection(
      "wrong-proposer",
      `The proposer of slot ${block.slot} is validator ${expectedProposer}, not ${block.proposerIndex}.`,
    );
  }
  const indexedAttestations = indexAttestations(config, signed, preState);
  // A large batch runs in worker threads while the transition runs here; a bad signature is the verdict that counts.
  const signatures = bls?.verify(signatureSets(config, signed, preState, indexedAttestations)) ?? true;
  const transition = captureFailure(() => applyBlock(config, signed, preState));
  if (!(await signatures)) {
    throw new BlockRejection("invalid-signature", `A signature of the block of slot ${block.slot} is not valid.`);
  }
  const state = transition();
  const execution = await verifyPayload(config, signed, preState, engine);
  return { state, indexedAttestations, execution };
}

function indexAttestations(
  config: BeaconConfig,
  { message }: SignedBeaconBlock,
  preState: CachedBeaconStateAllForks,
): IndexedAttestation[] {
  try {
    const fork = config.getForkSeq(message.slot);
    return message.body.attestations.map((attestation) => preState.epochCtx.getIndexedAttestation(fork, attestation));
  } catch (error) {
    throw invalidTransition(message.slot, error);
  }
}

function signatureSets(
  config: BeaconConfig,
  signed: SignedBeaconBlock,
  preState: CachedBeaconStateAllForks,
  indexedAttestations: IndexedAttestation[],
): ISignatureSet[] {
  const isPostAltair = config.getForkSeq(signed.message.slot) >= ForkSeq.altair;
  const syncCommittee = isPostAltair ? preState.epochCtx.currentSyncCommitteeIndexed : new SyncCommitteeCacheEmpty();
  try {
    return getBlockSignatureSets(config, syncCommittee, new BeaconStateView(preState), signed, indexedAttestations);
  } catch (error) {
    throw invalidTransition(signed.message.slot, error);
  }
}

function applyBlock(
  config: BeaconConfig,
  signed: SignedBeaconBlock,
  preState: CachedBeaconStateAllForks,
): CachedBeaconStateAllForks {
  const { slot, stateRoot } = signed.message;
  requireData(config, signed);
  let postState: CachedBeaconStateAllForks;
  try {
    postState = stateTransition(preState, signed, {
      verifyStateRoot: false,
      verifyProposer: false,
      verifySignatures: false,
      executionPayloadStatus: ExecutionPayloadStatus.valid,
      dataAvailabilityStatus: DataAvailabilityStatus.Available,
    });
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

/** Deneb, is_data_available: the node holds no blobs, so it cannot vouch for a block that refers to some. */
function requireData(config: BeaconConfig, { message }: SignedBeaconBlock): void {
  if (config.getForkSeq(message.slot) < ForkSeq.deneb) return;
  const { blobKzgCommitments } = message.body as deneb.BeaconBlockBody;
  if (blobKzgCommitments.length > 0) {
    throw new BlockRejection(
      "data-unavailable",
      `The block refers to ${blobKzgCommitments.length} blobs, and this node does not store blobs.`,
    );
  }
}

async function verifyPayload(
  config: BeaconConfig,
  { message }: SignedBeaconBlock,
  preState: CachedBeaconStateAllForks,
  engine: ExecutionEngine,
): Promise<ForkChoiceExecution> {
  if (!isExecutionStateType(preState) || !isExecutionEnabled(preState, message)) return { status: "pre-merge" };
  const fork = config.getForkName(message.slot) as ForkPostBellatrix;
  const body = message.body as electra.BeaconBlockBody;
  const payload = body.executionPayload;
  const verdict = await engine.notifyNewPayload(fork, payload, {
    parentBeaconBlockRoot: message.parentRoot,
    executionRequests: body.executionRequests,
    versionedHashes: versionedHashesOf(body.blobKzgCommitments ?? []),
  });
  if (verdict.status === "invalid") {
    throw new BlockRejection(
      "invalid-payload",
      `The execution engine refuses the payload of the block of slot ${message.slot}: ${verdict.message}`,
    );
  }
  return { status: verdict.status, blockHash: toRootHex(payload.blockHash), blockNumber: payload.blockNumber };
}

function invalidTransition(slot: number, error: unknown): BlockRejection {
  const detail = error instanceof Error ? error.message : String(error);
  return new BlockRejection(
    "invalid-transition",
    `The block of slot ${slot} breaks a consensus rule: ${detail}`,
    error,
  );
}

/** Runs now, but throws only when the result is asked for. */
function captureFailure<T>(run: () => T): () => T {
  try {
    const result = run();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
