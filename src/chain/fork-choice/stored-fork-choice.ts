import { promisify } from "node:util";
import { constants, deflate, inflate } from "node:zlib";
import { ByteListType, ContainerType, ListCompositeType } from "@chainsafe/ssz";
import { type RootHex, type Slot, ssz } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import type { BeaconDbBatch } from "../../db/beacon-db.ts";
import type { ExportedVotes } from "./exported-votes.ts";
import type { ForkChoice } from "./fork-choice.ts";
import type { Checkpoint, ForkChoiceBlock, ForkChoiceExecution } from "./types.ts";

const STATUSES = ["pre-merge", "valid", "optimistic", "invalid"] as const;
const NO_HASH = new Uint8Array(32);

/** Fork choice data for a block, except its slot, root and parent root. */
const StoredForkChoiceBlock = new ContainerType({
  stateRoot: ssz.Root,
  targetRoot: ssz.Root,
  justified: ssz.phase0.Checkpoint,
  finalized: ssz.phase0.Checkpoint,
  unrealizedJustified: ssz.phase0.Checkpoint,
  unrealizedFinalized: ssz.phase0.Checkpoint,
  executionStatus: ssz.Uint8,
  blockHash: ssz.Root,
  blockNumber: ssz.UintNum64,
});

export function serializeForkChoiceBlock(block: ForkChoiceBlock): Uint8Array {
  const { execution } = block;
  const payload = execution.status === "pre-merge" ? undefined : execution;
  return StoredForkChoiceBlock.serialize({
    stateRoot: fromHex(block.stateRoot),
    targetRoot: fromHex(block.targetRoot),
    justified: checkpointBytes(block.justified),
    finalized: checkpointBytes(block.finalized),
    unrealizedJustified: checkpointBytes(block.unrealizedJustified),
    unrealizedFinalized: checkpointBytes(block.unrealizedFinalized),
    executionStatus: STATUSES.indexOf(execution.status),
    blockHash: payload ? fromHex(payload.blockHash) : NO_HASH,
    blockNumber: payload?.blockNumber ?? 0,
  });
}

/** Stores an unfinalized block with its current fork choice data. */
export function putForkChoiceBlock(batch: BeaconDbBatch, block: ForkChoiceBlock): void {
  batch.hotBlocks.put(block.slot, block.root, block.parentRoot, serializeForkChoiceBlock(block));
}

export function deserializeForkChoiceBlock(
  bytes: Uint8Array,
  position: { slot: Slot; root: RootHex; parentRoot: RootHex },
): ForkChoiceBlock {
  const stored = StoredForkChoiceBlock.deserialize(bytes);
  return {
    slot: position.slot,
    root: position.root,
    parentRoot: position.parentRoot,
    stateRoot: toRootHex(stored.stateRoot),
    targetRoot: toRootHex(stored.targetRoot),
    justified: checkpointOf(stored.justified),
    finalized: checkpointOf(stored.finalized),
    unrealizedJustified: checkpointOf(stored.unrealizedJustified),
    unrealizedFinalized: checkpointOf(stored.unrealizedFinalized),
    execution: executionOf(stored),
  };
}

/** Votes counted by fork choice, and the leaf blocks up to which attestations in blocks have been counted. */
export interface CountedVotes extends ExportedVotes {
  leaves: RootHex[];
}

/** The limit of an SSZ list affects only its root, not its encoding. */
const LIST_LIMIT = 2 ** 32;
const Roots = new ListCompositeType(ssz.Root, LIST_LIMIT);
/** Serialized as bytes: number lists with one entry per validator are slow to serialize element by element. */
const Numbers = new ByteListType(LIST_LIMIT);

/**
 * First byte of uncompressed votes stored by older versions: the offset of the first field. Deflate output never starts
 * with it.
 */
const PLAIN_VOTES_BEGINNING = 20;

const Votes = new ContainerType({
  leaves: Roots,
  roots: Roots,
  nodes: Numbers,
  epochs: Numbers,
  equivocating: Numbers,
});

const compress = promisify(deflate);
const decompress = promisify(inflate);

/** Compresses votes on the thread pool. Most votes are equal, and the votes of a million validators take up 9 MB. */
export function serializeVotes({ leaves, roots, messages }: CountedVotes): Promise<Uint8Array> {
  const votes = Votes.serialize({
    leaves: leaves.map((root) => fromHex(root)),
    roots: roots.map((root) => fromHex(root)),
    nodes: bytesOf(messages.nodes),
    epochs: bytesOf(messages.epochs),
    equivocating: messages.equivocating,
  });
  return compress(votes, { level: constants.Z_BEST_SPEED });
}

export async function deserializeVotes(bytes: Uint8Array): Promise<CountedVotes> {
  const votes = bytes[0] === PLAIN_VOTES_BEGINNING ? bytes : new Uint8Array(await decompress(bytes));
  const { leaves, roots, nodes, epochs, equivocating } = Votes.deserialize(votes);
  return {
    leaves: leaves.map(toRootHex),
    roots: roots.map(toRootHex),
    messages: {
      nodes: new Int32Array(ownBuffer(nodes)),
      epochs: new Uint32Array(ownBuffer(epochs)),
      equivocating: new Uint8Array(equivocating),
    },
  };
}

/** Uses native byte order, because the database never leaves the machine. */
const bytesOf = ({ buffer, byteOffset, byteLength }: Int32Array | Uint32Array) =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** Copies the bytes to an aligned buffer. */
const ownBuffer = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;

/** Returns all votes counted so far. Storing them avoids replaying blocks at startup. */
export function countedVotes(forkChoice: ForkChoice): CountedVotes {
  return { ...forkChoice.exportVotes(), leaves: forkChoice.leaves().map(({ root }) => root) };
}

export async function putCountedVotes(batch: BeaconDbBatch, votes: CountedVotes): Promise<void> {
  batch.meta.putVotes(await serializeVotes(votes));
}

const checkpointBytes = ({ epoch, root }: Checkpoint) => ({ epoch, root: fromHex(root) });

const checkpointOf = ({ epoch, root }: { epoch: number; root: Uint8Array }): Checkpoint => ({
  epoch,
  root: toRootHex(root),
});

function executionOf({
  executionStatus,
  blockHash,
  blockNumber,
}: {
  executionStatus: number;
  blockHash: Uint8Array;
  blockNumber: number;
}): ForkChoiceExecution {
  const status = STATUSES[executionStatus];
  if (status === undefined) throw new Error(`unknown payload status ${executionStatus} of a stored block`);
  return status === "pre-merge" ? { status } : { status, blockHash: toRootHex(blockHash), blockNumber };
}
