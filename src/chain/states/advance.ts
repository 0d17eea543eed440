import { setImmediate as nextTurn } from "node:timers/promises";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  DataAvailabilityStatus,
  ExecutionPayloadStatus,
  processSlots,
  stateTransition,
} from "@lodestar/state-transition";
import type { Epoch, SignedBeaconBlock, SignedBlindedBeaconBlock, Slot } from "@lodestar/types";
import { OperationalError } from "../../errors/operational-error.ts";
import { denseCaches } from "./dense-caches.ts";

/** A chain without validators has no proposers, and no state from then on. */
export class NobodyActiveError extends OperationalError {
  constructor(epoch: Epoch) {
    super(`No validator is active in epoch ${epoch} or after it, so that the chain cannot go on.`);
    this.name = "NobodyActiveError";
  }
}

/** How the library says it. */
const NOBODY_ACTIVE = "Validator indices must not be empty";

interface AdvanceOptions {
  /** Whether the state keeps what was read of it at hand; by default the one that is made of it takes that over. */
  keepsCaches?: boolean;
}

/** Advances a state through empty slots, letting others run between two epoch transitions. */
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
    if (error instanceof Error && error.message === NOBODY_ACTIVE) {
      throw new NobodyActiveError(Math.floor(slot / SLOTS_PER_EPOCH));
    }
    throw error;
  }
}

/** The state after a block on one of the block's slot. Nothing is verified but what the transition itself depends on. */
export function withBlock(
  state: CachedBeaconStateAllForks,
  block: SignedBeaconBlock | SignedBlindedBeaconBlock,
): CachedBeaconStateAllForks {
  denseCaches(state);
  return stateTransition(state, block, {
    verifyStateRoot: false,
    verifyProposer: false,
    verifySignatures: false,
    executionPayloadStatus: ExecutionPayloadStatus.valid,
    dataAvailabilityStatus: DataAvailabilityStatus.Available,
  });
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
  const after = withBlock(before, block);
  await nextTurn();
  return { before, after };
}
