import { setImmediate as nextTurn } from "node:timers/promises";
import type { BeaconConfig } from "@lodestar/config";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { IndexedAttestation, SignedBlindedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { ForkChoiceExecution } from "../fork-choice/types.ts";
import { type StateStore, StateUnavailableError } from "../states/state-store.ts";
import { type AnySignedBlock, applyBlock, type ReadBlock, readBlock, signatureSetsOf } from "./apply-block.ts";
import { BlockRejection } from "./block-rejection.ts";
import type { ArrivedBlock } from "./segment.ts";
import type { VerifyPayload } from "./verify-payload.ts";

export interface VerifiedBlock extends ArrivedBlock {
  /** After the block. */
  state: CachedBeaconStateAllForks;
  indexedAttestations: IndexedAttestation[];
  execution: ForkChoiceExecution;
}

interface TransitionVerifiers {
  config: BeaconConfig;
  /** Null for blocks whose signatures were verified before, or made by this node. */
  bls: Pick<BlsVerifier, "verify"> | null;
  /** The state after the block, if this node produced it. */
  producedState?: CachedBeaconStateAllForks | undefined;
}

interface Verifiers extends TransitionVerifiers {
  verifyPayload: VerifyPayload;
}

/** Everything that makes a block valid on its pre-state (the parent's state advanced to the block's slot). */
export async function verifyBlock(
  block: ArrivedBlock,
  preState: CachedBeaconStateAllForks,
  { verifyPayload, ...verifiers }: Verifiers,
): Promise<VerifiedBlock> {
  const { signed } = block;
  const read = readBlock(verifiers.config, signed, preState);
  const payload = verifyPayload(signed, read);
  // Unless the rest is in order, nobody asks for it.
  payload.catch(() => undefined);
  const state = await verifiedState(signed, preState, read, verifiers);
  return { ...block, state, indexedAttestations: read.indexedAttestations, execution: await payload };
}

/** All that can be said of a block whose parent is known before a builder gives its payload. Throws a `BlockRejection`. */
export async function verifyBlindedBlock(
  signed: SignedBlindedBeaconBlock,
  { states, config, bls }: { states: StateStore; config: BeaconConfig; bls: Pick<BlsVerifier, "verify"> },
): Promise<void> {
  const preState = await preStateOf(signed, states);
  await verifiedState(signed, preState, readBlock(config, signed, preState), { config, bls });
}

/** The state after a block, the payload left aside. */
async function verifiedState(
  signed: AnySignedBlock,
  preState: CachedBeaconStateAllForks,
  read: ReadBlock,
  { config, bls, producedState }: TransitionVerifiers,
): Promise<CachedBeaconStateAllForks> {
  // A large batch runs in worker threads while the transition runs here; a bad signature is the verdict that counts.
  const signatures = Promise.resolve(bls?.verify(signatureSetsOf(config, signed, preState, read)) ?? true);
  signatures.catch(() => undefined);
  // The transition holds this thread, so that whoever waits for it is answered first.
  if (!producedState) await nextTurn();
  const transition = captureFailure(() => applyBlock(signed, preState, producedState));
  if (!(await signatures)) throw badSignature(signed);
  return transition();
}

export function badSignature({ message }: AnySignedBlock): BlockRejection {
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

/** The state of a known parent, advanced to the block's slot. */
export async function preStateOf({ message }: AnySignedBlock, states: StateStore): Promise<CachedBeaconStateAllForks> {
  try {
    return await states.afterBlock(toRootHex(message.parentRoot), message.slot);
  } catch (error) {
    if (!(error instanceof StateUnavailableError)) throw error;
    // The chain was started from a state that was already advanced past this slot.
    throw new BlockRejection("before-history", `The state before the block is not known. ${error.message}`, error);
  }
}
