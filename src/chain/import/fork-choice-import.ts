import {
  BeaconStateView,
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  getAttesterSlashableIndices,
  getBlockRootAtSlot,
} from "@lodestar/state-transition";
import type { BeaconBlock, gloas, IndexedAttestation, phase0, RootHex, SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { Checkpoint, ForkChoiceBid, ForkChoiceBlock, ForkChoiceExecution } from "../fork-choice/types.ts";

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
  const bid = bidOf(block);
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
    ...(bid && { bid }),
  };
}

/** Returns the hashes of a block's bid since gloas. */
function bidOf({ body }: BeaconBlock): ForkChoiceBid | undefined {
  if (!("signedExecutionPayloadBid" in body)) return undefined;
  const { blockHash, parentBlockHash } = (body as gloas.BeaconBlockBody).signedExecutionPayloadBid.message;
  return { blockHash: toRootHex(blockHash), parentBlockHash: toRootHex(parentBlockHash) };
}

/**
 * Counts the attestations in a valid block, and marks the validators that its slashings prove to be equivocating. Since
 * gloas, counts the payload attestations too. `state` is the post-state.
 */
export function applyBlockAttestations(
  forkChoice: ForkChoice,
  block: BeaconBlock,
  indexedAttestations: IndexedAttestation[],
  state?: CachedBeaconStateAllForks,
): void {
  if (state && "payloadAttestations" in block.body) {
    countPayloadAttestations(forkChoice, block.body as gloas.BeaconBlockBody, state);
  }
  for (const slashing of block.body.attesterSlashings) {
    forkChoice.onAttesterSlashing(getAttesterSlashableIndices(slashing));
  }
  const isGloas = "payloadAttestations" in block.body;
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
      payloadPresent: isGloas && data.index === 1,
    });
  }
}

/** gloas/fork-choice.md, notify_ptc_messages */
function countPayloadAttestations(
  forkChoice: ForkChoice,
  { payloadAttestations }: gloas.BeaconBlockBody,
  { epochCtx }: CachedBeaconStateAllForks,
): void {
  for (const attestation of payloadAttestations) {
    const { slot, beaconBlockRoot, payloadPresent, blobDataAvailable } = attestation.data;
    const { attestingIndices } = epochCtx.getIndexedPayloadAttestation(slot, attestation);
    const positions = committeePositions(epochCtx.getPayloadTimelinessCommittee(slot), new Set(attestingIndices));
    const blockRoot = toRootHex(beaconBlockRoot);
    forkChoice.onPayloadAttestation({ positions, slot, blockRoot, payloadPresent, blobDataAvailable });
  }
}

/** Returns all positions of the validators in a payload timeliness committee. A validator can have several. */
export function committeePositions(committee: ArrayLike<number>, validators: ReadonlySet<number>): number[] {
  const positions: number[] = [];
  for (let position = 0; position < committee.length; position++) {
    if (validators.has(committee[position]!)) positions.push(position);
  }
  return positions;
}
