import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq, GENESIS_SLOT, ZERO_HASH } from "@lodestar/params";
import {
  type BeaconStateAllForks,
  type CachedBeaconStateAllForks,
  type CachedBeaconStateGloas,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  isExecutionStateType,
  isMergeTransitionComplete,
} from "@lodestar/state-transition";
import { type gloas, type phase0, type RootHex, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { blockRoot, serializeSignedBlock } from "../blocks/block-encoding.ts";
import type { Checkpoint, ForkChoiceBlock, ForkChoiceExecution } from "../fork-choice/types.ts";
import { toCheckpoint } from "../import/fork-choice-import.ts";

/** Trusted starting state of the chain: genesis or a weak subjectivity checkpoint. */
interface Anchor {
  state: BeaconStateAllForks;
  /** SSZ of the state, if available. */
  bytes?: Uint8Array;
  /**
   * Block described by the state's latest block header. Optional for genesis, whose block is derived from the state.
   */
  block?: SignedBeaconBlock;
}

/** Returns the state's latest block header with its state root filled in. */
export function latestBlockHeader(state: BeaconStateAllForks): phase0.BeaconBlockHeader {
  const header = ssz.phase0.BeaconBlockHeader.clone(state.latestBlockHeader);
  if (ssz.Root.equals(header.stateRoot, ZERO_HASH)) header.stateRoot = state.hashTreeRoot();
  return header;
}

/**
 * Builds the unsigned genesis block: a zero parent root, the root of the genesis state and an empty body, apart from the
 * bid of the state since gloas.
 */
export function genesisBlock(config: BeaconConfig, state: BeaconStateAllForks): SignedBeaconBlock {
  const { stateRoot, bodyRoot } = latestBlockHeader(state);
  const types = config.getForkTypes(state.slot);
  const block = types.SignedBeaconBlock.defaultValue() as SignedBeaconBlock;
  block.message.stateRoot = stateRoot;
  // A body of its own, because the library caches the root in the object.
  const emptyRoot = types.BeaconBlockBody.hashTreeRoot(types.BeaconBlockBody.defaultValue());
  if ("latestExecutionPayloadBid" in state && !ssz.Root.equals(emptyRoot, bodyRoot)) {
    const { message } = block as gloas.SignedBeaconBlock;
    message.body.signedExecutionPayloadBid.message = state.latestExecutionPayloadBid.toValue();
  }
  return block;
}

/** Clears the database and writes the anchor state, the anchor block if known, and the chain's identity. */
export async function initialiseDatabase(
  db: BeaconDb,
  config: BeaconConfig,
  { state, bytes, block }: Anchor,
  identity: object,
): Promise<void> {
  const header = latestBlockHeader(state);
  const root = toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(header));
  const anchorBlock = block ?? ownGenesisBlock(config, state, root);
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

/** Returns the genesis block of a genesis state; null for later states, and if the state has a block of its own. */
function ownGenesisBlock(config: BeaconConfig, state: BeaconStateAllForks, root: RootHex): SignedBeaconBlock | null {
  if (state.latestBlockHeader.slot !== GENESIS_SLOT) return null;
  const block = genesisBlock(config, state);
  return blockRoot(config, block.message) === root ? block : null;
}

/**
 * Returns the newest justified and finalized checkpoints known from an anchor state. Fork choice uses the anchor block
 * as the checkpoint for the state's epoch. If the block comes after the epoch's first slot, that is only an
 * approximation, and the newest exact checkpoints are those in the state.
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

interface AnchorOptions {
  /** True if the payloads up to the anchor are known to be valid. */
  isVerified: boolean;
  /** Number of the block's stored payload; null if none is stored. Only needed since gloas. */
  payloadNumber: number | null;
}

/**
 * Builds the fork choice node for the anchor, treating its block as justified and finalized. Since gloas, its payload is
 * absent unless it is stored.
 */
export function anchorBlock(
  state: CachedBeaconStateAllForks,
  checkpoint: Checkpoint,
  options: AnchorOptions,
): ForkChoiceBlock {
  const header = latestBlockHeader(state);
  const isGloasBlock = state.config.getForkSeq(header.slot) >= ForkSeq.gloas;
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
    ...("latestExecutionPayloadBid" in state
      ? gloasExecution(state as CachedBeaconStateGloas, isGloasBlock, options)
      : { execution: executionOf(state, options) }),
  };
}

function executionOf(state: CachedBeaconStateAllForks, { isVerified }: AnchorOptions): ForkChoiceExecution {
  if (!isExecutionStateType(state) || !isMergeTransitionComplete(state)) return { status: "pre-merge" };
  const { blockHash, blockNumber } = state.latestExecutionPayloadHeader;
  return { status: isVerified ? "valid" : "optimistic", blockHash: toRootHex(blockHash), blockNumber };
}

/** A block from before the fork has no bid, but its payload is the one from which the state starts. */
function gloasExecution(
  state: CachedBeaconStateGloas,
  isGloasBlock: boolean,
  { isVerified, payloadNumber }: AnchorOptions,
): Pick<ForkChoiceBlock, "execution" | "bid"> {
  const blockHash = toRootHex(state.latestExecutionPayloadBid.blockHash);
  const payload = { status: isVerified ? "valid" : "optimistic", blockHash } as const;
  if (!isGloasBlock) return { execution: { ...payload, blockNumber: payloadNumber ?? 0 } };
  const parentBlockHash = toRootHex(state.latestExecutionPayloadBid.parentBlockHash);
  return {
    execution: payloadNumber === null ? { status: "absent" } : { ...payload, blockNumber: payloadNumber },
    bid: { blockHash, parentBlockHash },
  };
}
