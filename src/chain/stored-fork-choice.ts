import { promisify } from "node:util";
import { constants, deflate, inflate } from "node:zlib";
import { ByteListType, ContainerType, ListCompositeType } from "@chainsafe/ssz";
import { type RootHex, type Slot, ssz } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import type { BeaconDbBatch } from "../db/beacon-db.ts";
import type { ExportedVotes, ForkChoice } from "./fork-choice/fork-choice.ts";
import type { Checkpoint, ForkChoiceBlock, ForkChoiceExecution } from "./fork-choice/types.ts";

const STATUSES = ["pre-merge", "valid", "optimistic", "invalid"] as const;
const NO_HASH = new Uint8Array(32);

/** What fork choice knows of a block beside its slot, its root and its parent's. */
const BlockFacts = new ContainerType({
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

export function serializeBlockFacts(block: ForkChoiceBlock): Uint8Array {
  const { execution } = block;
  const payload = execution.status === "pre-merge" ? undefined : execution;
  return BlockFacts.serialize({
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

/** Notes a block that is not final yet with all that fork choice knows of it now. */
export function putBlockFacts(batch: BeaconDbBatch, block: ForkChoiceBlock): void {
  batch.hotBlocks.put(block.slot, block.root, block.parentRoot, serializeBlockFacts(block));
}

export function deserializeBlockFacts(
  bytes: Uint8Array,
  position: { slot: Slot; root: RootHex; parentRoot: RootHex },
): ForkChoiceBlock {
  const facts = BlockFacts.deserialize(bytes);
  return {
    slot: position.slot,
    root: position.root,
    parentRoot: position.parentRoot,
    stateRoot: toRootHex(facts.stateRoot),
    targetRoot: toRootHex(facts.targetRoot),
    justified: checkpointOf(facts.justified),
    finalized: checkpointOf(facts.finalized),
    unrealizedJustified: checkpointOf(facts.unrealizedJustified),
    unrealizedFinalized: checkpointOf(facts.unrealizedFinalized),
    execution: executionOf(facts),
  };
}

/** The votes that fork choice had counted, and up to which blocks those of the blocks are among them. */
export interface CountedVotes extends ExportedVotes {
  leaves: RootHex[];
}

/** The bound of an SSZ list shows in its root, not in its bytes. */
const LIST_LIMIT = 2 ** 32;
const Roots = new ListCompositeType(ssz.Root, LIST_LIMIT);
/** There are as many numbers as validators, too many for lists that are written number by number. */
const Numbers = new ByteListType(LIST_LIMIT);

/** With which votes begin that an older program stored as they are: the offset of the first field. Compressed ones never do. */
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

/** Compressed in another thread: most votes are alike, and of a million validators they take 9 MB. */
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

/** In the byte order of the machine, as the database never leaves it. */
const bytesOf = ({ buffer, byteOffset, byteLength }: Int32Array | Uint32Array) =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** Numbers of four bytes can only be read where their place in memory is a multiple of four. */
const ownBuffer = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;

/** All votes counted up to now. Stored, they save a start from executing the blocks of now to count them again. */
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
  if (status === undefined) throw new Error(`A stored block has the payload status ${executionStatus}, which is none.`);
  return status === "pre-merge" ? { status } : { status, blockHash: toRootHex(blockHash), blockNumber };
}
