import { setImmediate as nextTurn } from "node:timers/promises";
import { ForkSeq, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  DataAvailabilityStatus,
  ExecutionPayloadStatus,
  processSlots,
  stateTransition,
} from "@lodestar/state-transition";
import type { Epoch, SignedBeaconBlock, SignedBlindedBeaconBlock, Slot } from "@lodestar/types";
import { OperationalError } from "../../errors/operational-error.ts";
import { withoutPayloadAttestations } from "./payload-attestations.ts";
import { populateViewCaches } from "./view-caches.ts";

/**
 * Thrown if there are no active validators left or, since gloas, a slot has none for its payload timeliness committee
 * (gloas/beacon-chain.md, compute_ptc). The chain cannot continue.
 */
export class NoActiveValidatorsError extends OperationalError {
  constructor(epoch: Epoch, { hasCommittees }: { hasCommittees: boolean }) {
    const reason = hasCommittees
      ? `Fewer than ${SLOTS_PER_EPOCH} validators are active in epoch ${epoch} or later: since gloas, each slot of an ` +
        "epoch needs one for its payload timeliness committee."
      : `No validator is active in epoch ${epoch} or later.`;
    super(`${reason} The chain cannot continue.`);
    this.name = "NoActiveValidatorsError";
  }
}

/** Error message from the library. */
const NO_ACTIVE_VALIDATORS = "Validator indices must not be empty";

interface AdvanceOptions {
  /** Keeps the view caches with the input state instead of moving them to the result. */
  keepsCaches?: boolean;
}

/** Advances a state through empty slots. Yields to the event loop between epoch transitions. */
export async function advanceToSlot(
  state: CachedBeaconStateAllForks,
  slot: Slot,
  { keepsCaches = false }: AdvanceOptions = {},
): Promise<CachedBeaconStateAllForks> {
  let current = state;
  while (current.slot < slot) {
    const nextEpochStart = (Math.floor(current.slot / SLOTS_PER_EPOCH) + 1) * SLOTS_PER_EPOCH;
    current = throughEpoch(current, Math.min(slot, nextEpochStart), keepsCaches && current === state);
    if (current.slot < slot) await nextTurn();
  }
  return current;
}

function throughEpoch(state: CachedBeaconStateAllForks, slot: Slot, keepsCaches: boolean): CachedBeaconStateAllForks {
  try {
    return processSlots(state, slot, { dontTransferCache: keepsCaches });
  } catch (error) {
    if (error instanceof Error && error.message === NO_ACTIVE_VALIDATORS) {
      const hasCommittees = state.config.getForkSeq(slot) >= ForkSeq.gloas;
      throw new NoActiveValidatorsError(Math.floor(slot / SLOTS_PER_EPOCH), { hasCommittees });
    }
    throw error;
  }
}

/**
 * Applies a block to a state at the block's slot. Skips verification that the transition does not need: of the state
 * root, the payload, and all signatures that `signatureSetsOf` returns.
 */
export function processBlock(
  state: CachedBeaconStateAllForks,
  { message, signature }: SignedBeaconBlock | SignedBlindedBeaconBlock,
): CachedBeaconStateAllForks {
  populateViewCaches(state);
  return withoutPayloadAttestations(message, (block) =>
    stateTransition(state, { message: block, signature } as SignedBeaconBlock, {
      verifyStateRoot: false,
      verifyProposer: false,
      verifySignatures: false,
      executionPayloadStatus: ExecutionPayloadStatus.valid,
      dataAvailabilityStatus: DataAvailabilityStatus.Available,
    }),
  );
}

/**
 * Replays a block that was verified during import. Yields to the event loop. Returns the states before and after the
 * block, both at the block's slot.
 */
export async function replayBlock(
  state: CachedBeaconStateAllForks,
  block: SignedBeaconBlock,
): Promise<{ before: CachedBeaconStateAllForks; after: CachedBeaconStateAllForks }> {
  const before = await advanceToSlot(state, block.message.slot);
  const after = processBlock(before, block);
  await nextTurn();
  return { before, after };
}
