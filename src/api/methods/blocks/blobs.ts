import type { routes } from "@lodestar/api";
import { isForkPostFulu, NUMBER_OF_COLUMNS } from "@lodestar/params";
import { type RootHex, ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import type { ChainBlock } from "../../../chain/blocks/block-store.ts";
import type { BeaconChain } from "../../../chain/chain.ts";
import { DataUnavailableError } from "../../../chain/data/blobs-of-block.ts";
import { blobSidecarsOf } from "../../../data/blob-sidecars.ts";
import { commitmentsOf } from "../../../data/commitments.ts";
import { type Failure, notFound } from "../../../errors/failure.ts";
import { versionedHashesOf } from "../../../execution/engine.ts";
import type { ApiContext } from "../../context.ts";
import { defineOperation, get, optional } from "../../definition.ts";
import { metaOf, resolveBlock, versionedMetaOf } from "../../lookup.ts";
import { BLOCK_ID } from "../../params/common.ts";
import { integerUpTo, root, uint64, uniqueArrayOf } from "../../params/scalars.ts";
import { list, text } from "../../schemas.ts";
import { serializedListEncoders } from "../../serialized-list.ts";

type BlockId = routes.beacon.BlockId;

const getBlobs = defineOperation("beacon.getBlobs", {
  name: "get_v1_beacon_blobs_blockId",
  summary:
    "The blobs of a block, in the order of its commitments; none before deneb. From fulu on they are made of columns, of " +
    "which the node has to have half.",
  params: {
    blockId: BLOCK_ID,
    versionedHashes: optional(
      uniqueArrayOf(root, { noun: "versioned hashes" }),
      "Only the blobs with these versioned hashes; by default all.",
    ),
  },
  result: { name: "blobs", schema: list(text) },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/blobs/{block_id}", { ssz: "answer" })],
  cost: "heavy",
  access: "read",
  example: { params: ["head"] },
  ...serializedListEncoders(readBlobs),
});

const getBlobSidecars = defineOperation("beacon.getBlobSidecars", {
  name: "get_v1_beacon_blob_sidecars_blockId",
  summary:
    "The blobs of a block with their proofs; none before deneb. From fulu on they are made of columns, as those of " +
    "get_v1_beacon_blobs_blockId.",
  params: {
    blockId: BLOCK_ID,
    indices: optional(
      uniqueArrayOf(uint64, { noun: "blob indices" }),
      "Only the blobs with these indices, where the block has them; by default all.",
    ),
  },
  result: { name: "sidecars", schema: list({ type: "object" }) },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/blob_sidecars/{block_id}", { ssz: "answer" })],
  cost: "heavy",
  access: "read",
  example: { params: ["head"] },
  ...serializedListEncoders(readBlobSidecars),
});

const LAST_COLUMN = NUMBER_OF_COLUMNS - 1;
const columnIndex = integerUpTo(BigInt(LAST_COLUMN), `a column index: an integer from 0 to ${LAST_COLUMN}`);

const getDataColumnSidecars = defineOperation("debug.getDebugDataColumnSidecars", {
  name: "get_v1_debug_beacon_data_column_sidecars_blockId",
  summary: "Those of the data columns of a block that the node has; none before fulu.",
  params: {
    blockId: BLOCK_ID,
    indices: optional(
      uniqueArrayOf(columnIndex, { noun: "column indices" }),
      "Only these columns, where the node has them; by default all that it has.",
    ),
  },
  result: { name: "sidecars", schema: list({ type: "object" }) },
  failures: ["not-found"],
  rest: [get("/eth/v1/debug/beacon/data_column_sidecars/{block_id}", { ssz: "answer" })],
  cost: "heavy",
  access: "debug",
  growsAfterFinality: true,
  example: { params: ["head"] },
  ...serializedListEncoders(readColumnSidecars),
});

export const blobMethods = [getBlobs, getBlobSidecars] as const;
export const columnMethods = [getDataColumnSidecars] as const;

async function readBlobs(
  { chain }: ApiContext,
  { blockId, versionedHashes }: { blockId: BlockId; versionedHashes?: RootHex[] },
) {
  const block = await resolveBlock(chain, blockId);
  const wanted = versionedHashes && new Set(versionedHashes.map((hash) => hash.toLowerCase()));
  const hashes = versionedHashesOf(commitmentsOf(block.signed)).map((hash) => toHex(hash));
  const asked = indicesOf(hashes, (_, hash) => wanted?.has(hash) ?? true);
  const blobs = asked.length === 0 ? [] : await blobsOf(chain, block);
  return { type: ssz.deneb.Blob, elements: asked.map((index) => blobs[index]!), meta: metaOf(block) };
}

async function readBlobSidecars({ chain }: ApiContext, { blockId, indices }: { blockId: BlockId; indices?: number[] }) {
  const block = await resolveBlock(chain, blockId);
  const asked = indicesOf(commitmentsOf(block.signed), (index) => indices?.includes(index) ?? true);
  return {
    type: ssz.deneb.BlobSidecar,
    elements: asked.length === 0 ? [] : await blobSidecars(chain, block, asked),
    meta: versionedMetaOf(chain, block.slot, block),
  };
}

async function readColumnSidecars(
  { chain }: ApiContext,
  { blockId, indices }: { blockId: BlockId; indices?: number[] },
) {
  const block = await resolveBlock(chain, blockId);
  const meta = versionedMetaOf(chain, block.slot, block);
  const type = ssz.fulu.DataColumnSidecar;
  if (!isForkPostFulu(meta.version) || commitmentsOf(block.signed).length === 0) return { type, elements: [], meta };
  const held = await chain.data.indices(block.root);
  if (held.length === 0) throw notHere(chain, block, "columns");
  const asked = held.filter((index) => indices?.includes(index) ?? true);
  const columns = await Promise.all(asked.map((index) => chain.data.sidecarBytes(block.root, index)));
  // One that was deleted meanwhile is one that the node does not have.
  const elements = columns.filter((bytes) => bytes !== null);
  return { type, elements, meta };
}

function indicesOf<T>(values: readonly T[], isAskedFor: (index: number, value: T) => boolean): number[] {
  return [...values.keys()].filter((index) => isAskedFor(index, values[index]!));
}

async function blobsOf(chain: BeaconChain, block: ChainBlock): Promise<Uint8Array[]> {
  try {
    return await chain.data.blobs(block);
  } catch (error) {
    if (error instanceof DataUnavailableError) throw notHere(chain, block, "blobs", error);
    throw error;
  }
}

async function blobSidecars(chain: BeaconChain, block: ChainBlock, asked: readonly number[]): Promise<Uint8Array[]> {
  if (chain.data.hasColumns(block.slot)) return sidecarsOfBlobs(chain, block, asked);
  return Promise.all(
    asked.map(async (index) => {
      const bytes = await chain.data.sidecarBytes(block.root, index);
      if (bytes === null) throw notHere(chain, block, "blobs");
      return bytes;
    }),
  );
}

/** From fulu on nobody stores them: proofs of whole blobs are made for who asks, as no block brings them. */
async function sidecarsOfBlobs(chain: BeaconChain, block: ChainBlock, asked: readonly number[]): Promise<Uint8Array[]> {
  const { config, data } = chain;
  const blobs = await blobsOf(chain, block);
  const proofs: Uint8Array[] = [];
  await Promise.all(
    asked.map(async (index) => {
      proofs[index] = await data.kzg.blobProofOf(blobs[index]!, commitmentsOf(block.signed)[index]!);
    }),
  );
  const sidecars = blobSidecarsOf(config, block.signed, { blobs, proofs });
  return asked.map((index) => ssz.deneb.BlobSidecar.serialize(sidecars[index]!));
}

function notHere(
  { config, data }: BeaconChain,
  { slot }: ChainBlock,
  what: "blobs" | "columns",
  cause?: Error,
): Failure {
  if (data.isWithinWindow(slot)) {
    return notFound(cause?.message ?? `The ${what} of the block of slot ${slot} are not here.`, { cause });
  }
  const epochs = data.hasColumns(slot)
    ? config.MIN_EPOCHS_FOR_DATA_COLUMN_SIDECARS_REQUESTS
    : config.MIN_EPOCHS_FOR_BLOB_SIDECARS_REQUESTS;
  return notFound(
    `The ${what} of the block of slot ${slot} are not kept any more: it is more than ${epochs} epochs old.`,
    {
      cause,
    },
  );
}
