import type { BeaconConfig } from "@lodestar/config";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { IndexedAttestation, RootHex, SignedBeaconBlock } from "@lodestar/types";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { ExecutionEngine } from "../../execution/engine.ts";
import type { ForkChoiceExecution } from "../fork-choice/types.ts";
import { applyBlock, readBlock } from "./apply-block.ts";
import { BlockRejection } from "./block-rejection.ts";
import { verifyPayload } from "./verify-payload.ts";

export interface VerifiedBlock {
  signed: SignedBeaconBlock;
  root: RootHex;
  /** After the block. */
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
  { signed, root }: { signed: SignedBeaconBlock; root: RootHex },
  preState: CachedBeaconStateAllForks,
  { config, bls, engine }: Verifiers,
): Promise<VerifiedBlock> {
  const { indexedAttestations, signatureSets, hasPayload } = readBlock(config, signed, preState);
  // A large batch runs in worker threads while the transition runs here; a bad signature is the verdict that counts.
  const signatures = bls?.verify(signatureSets) ?? true;
  const transition = captureFailure(() => applyBlock(config, signed, preState));
  if (!(await signatures)) throw badSignature(signed);
  const state = transition();
  const execution = hasPayload ? await verifyPayload(signed, { config, engine }) : PRE_MERGE;
  return { signed, root, state, indexedAttestations, execution };
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
