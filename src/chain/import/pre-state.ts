import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { type StateStore, StateUnavailableError } from "../states/state-store.ts";
import { BlockRejection } from "./block-rejection.ts";

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
