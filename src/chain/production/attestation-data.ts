import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  getBlockRootAtSlot,
} from "@lodestar/state-transition";
import type { CommitteeIndex, phase0, RootHex, Slot } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { StateStore } from "../states/state-store.ts";

interface Vote {
  slot: Slot;
  /** Attested block. */
  blockRoot: RootHex;
  committeeIndex: CommitteeIndex;
}

/**
 * Returns a state with the committees and the justified checkpoint of the slot's epoch: the block's post-state,
 * advanced to the start of the epoch if the block is older.
 */
export async function stateToAttestOn(
  states: StateStore,
  { slot, blockRoot }: Pick<Vote, "slot" | "blockRoot">,
): Promise<CachedBeaconStateAllForks> {
  const epochStart = computeStartSlotAtEpoch(computeEpochAtSlot(slot));
  const postState = await states.afterBlock(blockRoot);
  return postState.slot >= epochStart ? postState : states.afterBlock(blockRoot, epochStart);
}

/**
 * Builds attestation data (phase0/validator.md, Construct attestation) from the state returned by `stateToAttestOn`.
 */
export function attestationDataOn(
  state: CachedBeaconStateAllForks,
  { slot, blockRoot, committeeIndex }: Vote,
): phase0.AttestationData {
  const epoch = computeEpochAtSlot(slot);
  const epochStart = computeStartSlotAtEpoch(epoch);
  const beaconBlockRoot = fromHex(blockRoot);
  return {
    slot,
    index: committeeIndex,
    beaconBlockRoot,
    source: state.currentJustifiedCheckpoint.toValue(),
    target: { epoch, root: state.slot > epochStart ? getBlockRootAtSlot(state, epochStart) : beaconBlockRoot },
  };
}
