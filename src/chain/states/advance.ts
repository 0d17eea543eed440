import { setImmediate as nextTurn } from "node:timers/promises";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  DataAvailabilityStatus,
  ExecutionPayloadStatus,
  processSlots,
  stateTransition,
} from "@lodestar/state-transition";
import type { Epoch, SignedBeaconBlock, Slot } from "@lodestar/types";
import { ForeseenError } from "../../foreseen-error.ts";

/** A chain without validators has no proposers, and no state from then on. */
export class NobodyActiveError extends ForeseenError {
  constructor(epoch: Epoch) {
    super(`No validator is active in epoch ${epoch} or after it, so that the chain cannot go on.`);
    this.name = "NobodyActiveError";
  }
}

/** How the library says it. */
const NOBODY_ACTIVE = "Validator indices must not be empty";

/** Advances a state through empty slots, letting others run between two epoch transitions. */
export async function advanceToSlot(state: CachedBeaconStateAllForks, slot: Slot): Promise<CachedBeaconStateAllForks> {
  let current = state;
  while (current.slot < slot) {
    const nextEpochStart = (Math.floor(current.slot / SLOTS_PER_EPOCH) + 1) * SLOTS_PER_EPOCH;
    current = throughEpoch(current, Math.min(slot, nextEpochStart));
    if (current.slot < slot) await nextTurn();
  }
  return current;
}

function throughEpoch(state: CachedBeaconStateAllForks, slot: Slot): CachedBeaconStateAllForks {
  try {
    return processSlots(state, slot);
  } catch (error) {
    if (error instanceof Error && error.message === NOBODY_ACTIVE) {
      throw new NobodyActiveError(Math.floor(slot / SLOTS_PER_EPOCH));
    }
    throw error;
  }
}

/**
 * Applies a block that was verified when it was imported, letting others run in between. Gives the states of the block's slot
 * without the block and with it.
 */
export async function replayBlock(
  state: CachedBeaconStateAllForks,
  block: SignedBeaconBlock,
): Promise<{ before: CachedBeaconStateAllForks; after: CachedBeaconStateAllForks }> {
  const before = await advanceToSlot(state, block.message.slot);
  const after = stateTransition(before, block, {
    verifyStateRoot: false,
    verifyProposer: false,
    verifySignatures: false,
    executionPayloadStatus: ExecutionPayloadStatus.valid,
    dataAvailabilityStatus: DataAvailabilityStatus.Available,
  });
  await nextTurn();
  return { before, after };
}
