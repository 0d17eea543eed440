import { setImmediate as nextTurn } from "node:timers/promises";
import type { BeaconConfig } from "@lodestar/config";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { IndexedAttestation, SignedBlindedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { ForkChoiceExecution } from "../fork-choice/types.ts";
import { type StateStore, StateUnavailableError } from "../states/state-store.ts";
import type { ValidatedBlock } from "../validation/block.ts";
import { type AnySignedBlock, applyBlock, type ReadBlock, readBlock, signatureSetsOf } from "./apply-block.ts";
import { BlockRejection } from "./block-rejection.ts";
import type { ArrivedBlock } from "./segment.ts";
import type { VerifyPayload } from "./verify-payload.ts";

export interface VerifiedBlock extends ArrivedBlock {
  /** Post-state. */
  state: CachedBeaconStateAllForks;
  indexedAttestations: IndexedAttestation[];
  execution: ForkChoiceExecution;
}

interface TransitionVerifiers {
  config: BeaconConfig;
  /** Null if the signatures are already verified or were made by this node. */
  bls: Pick<BlsVerifier, "verify"> | null;
  /** Post-state if this node produced the block. */
  producedState?: CachedBeaconStateAllForks | undefined;
  /** Set if the block passed gossip validation, which has verified the proposer signature. */
  validated?: ValidatedBlock | undefined;
}

interface Verifiers extends TransitionVerifiers {
  verifyPayload: VerifyPayload;
}

/** Fully verifies a block on its pre-state (the parent's state advanced to the block's slot). */
export async function verifyBlock(
  block: ArrivedBlock,
  preState: CachedBeaconStateAllForks,
  { verifyPayload, ...verifiers }: Verifiers,
): Promise<VerifiedBlock> {
  const { signed } = block;
  const read = readBlock(verifiers.config, signed, preState);
  const payload = verifyPayload(signed, read);
  // Not awaited if the rest of the block is invalid.
  payload.catch(() => undefined);
  const state = await verifiedState(signed, preState, read, verifiers);
  return { ...block, state, indexedAttestations: read.indexedAttestations, execution: await payload };
}

/** Verifies a blinded block, whose payload the builder has not revealed yet. Throws a `BlockRejection`. */
export async function verifyBlindedBlock(
  signed: SignedBlindedBeaconBlock,
  { states, config, bls }: { states: StateStore; config: BeaconConfig; bls: Pick<BlsVerifier, "verify"> },
): Promise<void> {
  const preState = await preStateOf(signed, states);
  await verifiedState(signed, preState, readBlock(config, signed, preState), { config, bls });
}

/** Returns the post-state. Verifies everything but the payload. */
async function verifiedState(
  signed: AnySignedBlock,
  preState: CachedBeaconStateAllForks,
  read: ReadBlock,
  { config, bls, producedState, validated }: TransitionVerifiers,
): Promise<CachedBeaconStateAllForks> {
  // Worker threads verify the signatures while the transition runs here. An invalid signature takes precedence.
  const skipProposerSignature = validated?.signed === signed;
  const sets = () => signatureSetsOf(config, signed, preState, read, { skipProposerSignature });
  const signatures = Promise.resolve(bls?.verify(sets()) ?? true);
  signatures.catch(() => undefined);
  // The transition blocks the thread, so pending requests run first.
  if (!producedState) await nextTurn();
  const transition = captureFailure(() => applyBlock(signed, preState, producedState));
  if (!(await signatures)) throw badSignature(signed);
  return transition();
}

export function badSignature({ message }: AnySignedBlock): BlockRejection {
  return new BlockRejection("invalid-signature", `Invalid signature in the block at slot ${message.slot}.`);
}

/** Runs the function immediately but defers a thrown error until the result is read. */
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

/** Returns the parent's state advanced to the block's slot. */
export async function preStateOf({ message }: AnySignedBlock, states: StateStore): Promise<CachedBeaconStateAllForks> {
  try {
    return await states.afterBlock(toRootHex(message.parentRoot), message.slot);
  } catch (error) {
    if (!(error instanceof StateUnavailableError)) throw error;
    // The anchor state is already past this slot.
    throw new BlockRejection("before-history", `The pre-state of the block is unavailable. ${error.message}`, error);
  }
}
