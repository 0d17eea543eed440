import type { ChainForkConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  getBlockRootAtSlot,
} from "@lodestar/state-transition";
import type { CommitteeIndex, phase0, RootHex, Slot } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { StateStore } from "../states/state-store.ts";

interface Vote {
  slot: Slot;
  /** Attested block. */
  blockRoot: RootHex;
  index: number;
}

/**
 * Returns the index in attestation data: the committee's before electra, then 0. Since gloas, it is a vote on the
 * payload of an older block (gloas/validator.md, Attestation).
 */
export function attestationIndex(
  { config, forkChoice }: { config: ChainForkConfig; forkChoice: ForkChoice },
  { slot, blockRoot, committeeIndex }: Pick<Vote, "slot" | "blockRoot"> & { committeeIndex: CommitteeIndex },
): number {
  const fork = config.getForkSeq(slot);
  if (fork < ForkSeq.electra) return committeeIndex;
  const block = forkChoice.get(blockRoot);
  if (fork < ForkSeq.gloas || block === undefined || block.slot === slot) return 0;
  return forkChoice.payloadStatusOf(blockRoot) === "full" ? 1 : 0;
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
  { slot, blockRoot, index }: Vote,
): phase0.AttestationData {
  const epoch = computeEpochAtSlot(slot);
  const epochStart = computeStartSlotAtEpoch(epoch);
  const beaconBlockRoot = fromHex(blockRoot);
  return {
    slot,
    index,
    beaconBlockRoot,
    source: state.currentJustifiedCheckpoint.toValue(),
    target: { epoch, root: state.slot > epochStart ? getBlockRootAtSlot(state, epochStart) : beaconBlockRoot },
  };
}
