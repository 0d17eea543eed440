import {
  BeaconStateView,
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  getAttesterSlashableIndices,
  getBlockRootAtSlot,
} from "@lodestar/state-transition";
import type { BeaconBlock, IndexedAttestation, phase0, RootHex, SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { Checkpoint, ForkChoiceBlock, ForkChoiceExecution } from "../fork-choice/types.ts";

export const toCheckpoint = ({ epoch, root }: phase0.Checkpoint): Checkpoint => ({ epoch, root: toRootHex(root) });

/** Builds the fork choice node of a block from its post-state. */
export function toForkChoiceBlock({
  signed: { message: block },
  root,
  state,
  execution,
}: {
  signed: SignedBeaconBlock;
  root: RootHex;
  state: CachedBeaconStateAllForks;
  execution: ForkChoiceExecution;
}): ForkChoiceBlock {
  const epochStart = computeStartSlotAtEpoch(computeEpochAtSlot(block.slot));
  const unrealized = new BeaconStateView(state).computeUnrealizedCheckpoints();
  return {
    slot: block.slot,
    root,
    parentRoot: toRootHex(block.parentRoot),
    proposerIndex: block.proposerIndex,
    stateRoot: toRootHex(block.stateRoot),
    targetRoot: block.slot === epochStart ? root : toRootHex(getBlockRootAtSlot(state, epochStart)),
    justified: toCheckpoint(state.currentJustifiedCheckpoint),
    finalized: toCheckpoint(state.finalizedCheckpoint),
    unrealizedJustified: toCheckpoint(unrealized.justifiedCheckpoint),
    unrealizedFinalized: toCheckpoint(unrealized.finalizedCheckpoint),
    execution,
  };
}

/** Counts the attestations in a valid block, and marks the validators that its slashings prove to be equivocating. */
export function applyBlockAttestations(
  forkChoice: ForkChoice,
  block: BeaconBlock,
  indexedAttestations: IndexedAttestation[],
): void {
  for (const slashing of block.body.attesterSlashings) {
    forkChoice.onAttesterSlashing(getAttesterSlashableIndices(slashing));
  }
  for (const { data, attestingIndices } of indexedAttestations) {
    const blockRoot = toRootHex(data.beaconBlockRoot);
    // fork-choice.md, validate_on_attestation: the target must be the checkpoint of the attested block. Attestations
    // for pruned or unknown blocks are ignored.
    const targetSlot = computeStartSlotAtEpoch(data.target.epoch);
    if (forkChoice.ancestorAtSlot(blockRoot, targetSlot) !== toRootHex(data.target.root)) continue;
    forkChoice.onAttestation({
      indices: attestingIndices,
      slot: data.slot,
      targetEpoch: data.target.epoch,
      blockRoot,
    });
  }
}
