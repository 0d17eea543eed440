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
  /** The block that is voted for. */
  blockRoot: RootHex;
  committeeIndex: CommitteeIndex;
}

/**
 * A state whose committees and justified checkpoint are those of the slot's epoch: the block's own, or the one at the epoch's
 * start for a block of an earlier epoch.
 */
export async function stateToAttestOn(
  states: StateStore,
  { slot, blockRoot }: Pick<Vote, "slot" | "blockRoot">,
): Promise<CachedBeaconStateAllForks> {
  const epochStart = computeStartSlotAtEpoch(computeEpochAtSlot(slot));
  const postState = await states.afterBlock(blockRoot);
  return postState.slot >= epochStart ? postState : states.afterBlock(blockRoot, epochStart);
}

/** What is signed for a vote (phase0/validator.md, Construct attestation), on the state of `stateToAttestOn`. */
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
