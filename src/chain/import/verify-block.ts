import type { BeaconConfig } from "@lodestar/config";
import type { ForkPostBellatrix } from "@lodestar/params";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { electra, IndexedAttestation, SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BlsVerifier } from "../../bls/verifier.ts";
import { type ExecutionEngine, versionedHashesOf } from "../../execution/engine.ts";
import type { ForkChoiceExecution } from "../fork-choice/types.ts";
import { type StateStore, StateUnavailableError } from "../states/state-store.ts";
import { applyBlock, readBlock } from "./apply-block.ts";
import { BlockRejection } from "./block-rejection.ts";
import type { ArrivedBlock } from "./segment.ts";

export interface VerifiedBlock extends ArrivedBlock {
  /** After the block. */
  state: CachedBeaconStateAllForks;
  indexedAttestations: IndexedAttestation[];
  execution: ForkChoiceExecution;
}

/** The part of the execution engine that verifying takes. */
export type PayloadJudge = Pick<ExecutionEngine, "notifyNewPayload">;

interface Verifiers {
  config: BeaconConfig;
  /** Null for blocks whose signatures were verified before. */
  bls: BlsVerifier | null;
  engine: PayloadJudge;
}

/** Everything that makes a block valid on its pre-state (the parent's state advanced to the block's slot). */
export async function verifyBlock(
  block: ArrivedBlock,
  preState: CachedBeaconStateAllForks,
  { config, bls, engine }: Verifiers,
): Promise<VerifiedBlock> {
  const { signed } = block;
  const { indexedAttestations, signatureSets, hasPayload } = readBlock(config, signed, preState);
  // A large batch runs in worker threads while the transition runs here; a bad signature is the verdict that counts.
  const signatures = bls?.verify(signatureSets) ?? true;
  const transition = captureFailure(() => applyBlock(config, signed, preState));
  if (!(await signatures)) throw badSignature(signed);
  const state = transition();
  const execution = hasPayload ? await verifyPayload(signed, { config, engine }) : PRE_MERGE;
  return { ...block, state, indexedAttestations, execution };
}

export const PRE_MERGE: ForkChoiceExecution = { status: "pre-merge" };

export function badSignature({ message }: SignedBeaconBlock): BlockRejection {
  return new BlockRejection("invalid-signature", `A signature of the block of slot ${message.slot} is not valid.`);
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

/** Asks the execution engine about the payload of a block that has one. */
export async function verifyPayload(
  { message }: SignedBeaconBlock,
  { config, engine }: { config: BeaconConfig; engine: PayloadJudge },
): Promise<ForkChoiceExecution> {
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

/** The state of a known parent, advanced to the block's slot. */
export async function preStateOf(
  { message }: SignedBeaconBlock,
  states: StateStore,
): Promise<CachedBeaconStateAllForks> {
  try {
    return await states.afterBlock(toRootHex(message.parentRoot), message.slot);
  } catch (error) {
    if (!(error instanceof StateUnavailableError)) throw error;
    // The chain was started from a state that was already advanced past this slot.
    throw new BlockRejection("before-history", `The state before the block is not known. ${error.message}`, error);
  }
}
