import { promisify } from "node:util";
import { constants, deflate, inflate } from "node:zlib";
import { ByteListType, ContainerType, ListCompositeType } from "@chainsafe/ssz";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { type RootHex, type Slot, ssz } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import type { BeaconDbBatch } from "../../db/beacon-db.ts";
import type { ForkChoice } from "./fork-choice.ts";
import { NO_NODE, voteTarget } from "./tree/proto-array.ts";
import { type Checkpoint, executionBlockOf, type ForkChoiceBlock, type ForkChoiceExecution } from "./types.ts";
import type { ExportedVotes } from "./votes/exported-votes.ts";
import type { LatestMessages } from "./votes/votes.ts";

const STATUSES = ["pre-merge", "valid", "optimistic", "invalid", "absent"] as const;
const NO_HASH = new Uint8Array(32);

const FIELDS = {
  stateRoot: ssz.Root,
  targetRoot: ssz.Root,
  justified: ssz.phase0.Checkpoint,
  finalized: ssz.phase0.Checkpoint,
  unrealizedJustified: ssz.phase0.Checkpoint,
  unrealizedFinalized: ssz.phase0.Checkpoint,
  executionStatus: ssz.Uint8,
  blockHash: ssz.Root,
  blockNumber: ssz.UintNum64,
};

/** Fork choice data for a block before gloas, except its slot, root and parent root. */
const StoredForkChoiceBlock = new ContainerType(FIELDS);

/** The block hash is that of the bid, whether or not the payload has been verified. Recognised by its length. */
const StoredGloasBlock = new ContainerType({ ...FIELDS, parentBlockHash: ssz.Root });

export function serializeForkChoiceBlock(block: ForkChoiceBlock): Uint8Array {
  const payload = executionBlockOf(block);
  const blockHash = block.bid?.blockHash ?? payload?.blockHash;
  const stored = {
    stateRoot: fromHex(block.stateRoot),
    targetRoot: fromHex(block.targetRoot),
    justified: checkpointBytes(block.justified),
    finalized: checkpointBytes(block.finalized),
    unrealizedJustified: checkpointBytes(block.unrealizedJustified),
    unrealizedFinalized: checkpointBytes(block.unrealizedFinalized),
    executionStatus: STATUSES.indexOf(block.execution.status),
    blockHash: blockHash === undefined ? NO_HASH : fromHex(blockHash),
    blockNumber: payload?.blockNumber ?? 0,
  };
  if (block.bid === undefined) return StoredForkChoiceBlock.serialize(stored);
  return StoredGloasBlock.serialize({ ...stored, parentBlockHash: fromHex(block.bid.parentBlockHash) });
}

/** Stores an unfinalized block with its current fork choice data. */
export function putForkChoiceBlock(batch: BeaconDbBatch, block: ForkChoiceBlock): void {
  batch.hotBlocks.put(block.slot, block.root, block.parentRoot, serializeForkChoiceBlock(block));
}

export function deserializeForkChoiceBlock(
  bytes: Uint8Array,
  position: { slot: Slot; root: RootHex; parentRoot: RootHex },
): ForkChoiceBlock {
  const gloas = bytes.length === StoredGloasBlock.fixedSize ? StoredGloasBlock.deserialize(bytes) : undefined;
  const stored = gloas ?? StoredForkChoiceBlock.deserialize(bytes);
  const block: ForkChoiceBlock = {
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
  if (gloas === undefined) return block;
  const { blockHash, parentBlockHash } = gloas;
  return { ...block, bid: { blockHash: toRootHex(blockHash), parentBlockHash: toRootHex(parentBlockHash) } };
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

/** First byte of stored votes with payload statuses. The rest is compressed. */
const VERSION = 2;

/**
 * First byte of uncompressed votes stored by older versions: the offset of the first field. Deflate output, which other
 * older versions stored, never starts with it or with `VERSION`.
 */
const PLAIN_VOTES_BEGINNING = 20;

const Votes = new ContainerType({
  leaves: Roots,
  roots: Roots,
  /** Older versions stored positions in `roots`. */
  targets: Numbers,
  /** Older versions stored target epochs plus one. */
  slots: Numbers,
  equivocating: Numbers,
});

const compress = promisify(deflate);
const decompress = promisify(inflate);

/** Compresses votes on the thread pool. Most votes are equal, and the votes of a million validators take up 9 MB. */
export async function serializeVotes({ leaves, roots, messages }: CountedVotes): Promise<Uint8Array> {
  const votes = Votes.serialize({
    leaves: leaves.map((root) => fromHex(root)),
    roots: roots.map((root) => fromHex(root)),
    targets: bytesOf(messages.targets),
    slots: bytesOf(messages.slots),
    equivocating: messages.equivocating,
  });
  const compressed = await compress(votes, { level: constants.Z_BEST_SPEED });
  const stored = new Uint8Array(1 + compressed.length);
  stored[0] = VERSION;
  stored.set(compressed, 1);
  return stored;
}

export async function deserializeVotes(bytes: Uint8Array): Promise<CountedVotes> {
  const isCurrent = bytes[0] === VERSION;
  const isPlain = bytes[0] === PLAIN_VOTES_BEGINNING;
  const votes = isPlain ? bytes : new Uint8Array(await decompress(isCurrent ? bytes.subarray(1) : bytes));
  const { leaves, roots, targets, slots, equivocating } = Votes.deserialize(votes);
  const messages = {
    targets: new Int32Array(ownBuffer(targets)),
    slots: new Uint32Array(ownBuffer(slots)),
    equivocating: new Uint8Array(equivocating),
  };
  return {
    leaves: leaves.map(toRootHex),
    roots: roots.map(toRootHex),
    messages: isCurrent ? messages : withoutPayloadStatus(messages),
  };
}

/** Converts votes stored before gloas: positions to vote targets, and target epochs to slots. */
function withoutPayloadStatus({ targets, slots, equivocating }: LatestMessages): LatestMessages {
  return {
    targets: targets.map((position) => (position === NO_NODE ? NO_NODE : voteTarget(position, "pending"))),
    slots: slots.map((epochPlusOne) => (epochPlusOne === 0 ? 0 : (epochPlusOne - 1) * SLOTS_PER_EPOCH + 1)),
    equivocating,
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
  return status === "pre-merge" || status === "absent"
    ? { status }
    : { status, blockHash: toRootHex(blockHash), blockNumber };
}
