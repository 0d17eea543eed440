import type { BeaconConfig } from "@lodestar/config";
import { ZERO_HASH } from "@lodestar/params";
import {
  type BeaconStateAllForks,
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  isExecutionStateType,
  isMergeTransitionComplete,
} from "@lodestar/state-transition";
import { type phase0, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconDb } from "../db/beacon-db.ts";
import { serializeSignedBlock } from "./blocks/block-encoding.ts";
import type { Checkpoint, ForkChoiceBlock, ForkChoiceExecution } from "./fork-choice/types.ts";
import { toCheckpoint } from "./import/fork-choice-import.ts";

/** A state that is trusted without proof, and from which the chain is followed: genesis, or a finalized state. */
interface Anchor {
  state: BeaconStateAllForks;
  /** The SSZ of the state, where it is at hand. */
  bytes?: Uint8Array;
  /** The newest block the state has seen; a genesis block can be reconstructed, any other one must be given. */
  block?: SignedBeaconBlock;
}

/** The header of the newest block that the state has seen. */
export function latestBlockHeader(state: BeaconStateAllForks): phase0.BeaconBlockHeader {
  const header = ssz.phase0.BeaconBlockHeader.clone(state.latestBlockHeader);
  if (ssz.Root.equals(header.stateRoot, ZERO_HASH)) header.stateRoot = state.hashTreeRoot();
  return header;
}

/** The block that nobody signed: empty body, zero parent, the genesis state's root. */
export function genesisBlock(config: BeaconConfig, header: phase0.BeaconBlockHeader): SignedBeaconBlock {
  const block = config.getForkTypes(header.slot).SignedBeaconBlock.defaultValue() as SignedBeaconBlock;
  block.message.stateRoot = header.stateRoot;
  return block;
}

/**
 * Writes the first state, and its block where it is known, into a database, together with what identifies the chain, by which the
 * database is recognised later. Whatever is there goes: the chain of before, or what an import that was cut short has left.
 */
export async function initialiseDatabase(
  db: BeaconDb,
  config: BeaconConfig,
  { state, bytes, block }: Anchor,
  identity: object,
): Promise<void> {
  const header = latestBlockHeader(state);
  const root = toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(header));
  const anchorBlock = block ?? (header.slot === 0 ? genesisBlock(config, header) : null);
  await db.clear();
  const batch = db.batch();
  if (anchorBlock) batch.blocks.put(root, serializeSignedBlock(config, anchorBlock));
  batch.finalizedBlocks.put(header.slot, root);
  batch.stateIndex.put(toRootHex(state.hashTreeRoot()), { slot: state.slot, blockRoot: root });
  batch.snapshots.put(state.slot, root, bytes ?? state.serialize());
  batch.meta.putIdentity(identity);
  batch.meta.putFinalized({ epoch: computeEpochAtSlot(state.slot), root });
  await batch.write();
}

/**
 * The newest checkpoints that a chain which was started from the state knows to be justified and final. Fork choice takes the
 * state's newest block for the checkpoint of the state's epoch. It is one if the epoch's first slot was not before it; otherwise
 * there is no such checkpoint on any chain, and the newest that exist are those that the state itself holds.
 */
export function checkpointsOf(
  state: BeaconStateAllForks,
  anchor: Checkpoint,
): { justified: Checkpoint; finalized: Checkpoint } {
  if (state.latestBlockHeader.slot <= computeStartSlotAtEpoch(anchor.epoch)) {
    return { justified: anchor, finalized: anchor };
  }
  return {
    justified: toCheckpoint(state.currentJustifiedCheckpoint),
    finalized: toCheckpoint(state.finalizedCheckpoint),
  };
}

/** The anchor as fork choice's first block: everything up to it counts as justified and final. */
export function anchorBlock(
  state: CachedBeaconStateAllForks,
  checkpoint: Checkpoint,
  { isVerified }: { isVerified: boolean },
): ForkChoiceBlock {
  const header = latestBlockHeader(state);
  return {
    slot: header.slot,
    root: checkpoint.root,
    parentRoot: toRootHex(header.parentRoot),
    stateRoot: toRootHex(header.stateRoot),
    targetRoot: checkpoint.root,
    justified: checkpoint,
    finalized: checkpoint,
    unrealizedJustified: checkpoint,
    unrealizedFinalized: checkpoint,
    execution: executionOf(state, isVerified),
  };
}

function executionOf(state: CachedBeaconStateAllForks, isVerified: boolean): ForkChoiceExecution {
  if (!isExecutionStateType(state) || !isMergeTransitionComplete(state)) return { status: "pre-merge" };
  const { blockHash, blockNumber } = state.latestExecutionPayloadHeader;
  return { status: isVerified ? "valid" : "optimistic", blockHash: toRootHex(blockHash), blockNumber };
}
