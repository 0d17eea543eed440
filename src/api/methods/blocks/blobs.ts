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
import { list, shape } from "../../schemas.ts";
import { serializedListEncoders } from "../../serialized-list.ts";

type BlockId = routes.beacon.BlockId;

const getBlobs = defineOperation("beacon.getBlobs", {
  name: "get_v1_beacon_blobs_blockId",
  summary:
    "The blobs of a block in the order of its commitments; none before deneb. From fulu on they are reconstructed from data " +
    "columns; the node needs half of them.",
  params: {
    blockId: BLOCK_ID,
    versionedHashes: optional(
      uniqueArrayOf(root, { noun: "versioned hashes" }),
      "Versioned hashes of the blobs. Default: all.",
    ),
  },
  result: { name: "blobs", schema: list(shape("Bytes")) },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/blobs/{block_id}", { ssz: "response" })],
  cost: "heavy",
  access: "read",
  example: { params: ["head"] },
  ...serializedListEncoders(readBlobs),
});

const getBlobSidecars = defineOperation("beacon.getBlobSidecars", {
  name: "get_v1_beacon_blob_sidecars_blockId",
  summary:
    "The blob sidecars of a block; none before deneb. From fulu on they are reconstructed from data columns; the node " +
    "needs half of them.",
  params: {
    blockId: BLOCK_ID,
    indices: optional(
      uniqueArrayOf(uint64, { noun: "blob indices" }),
      "Indices of the blobs; those that the block does not have are ignored. Default: all.",
    ),
  },
  result: { name: "sidecars", schema: list(shape("BlobSidecar")) },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/blob_sidecars/{block_id}", { ssz: "response" })],
  cost: "heavy",
  access: "read",
  example: { params: ["head"] },
  ...serializedListEncoders(readBlobSidecars),
});

const LAST_COLUMN = NUMBER_OF_COLUMNS - 1;
const columnIndex = integerUpTo(BigInt(LAST_COLUMN), `a column index: an integer from 0 to ${LAST_COLUMN}`);

const getDataColumnSidecars = defineOperation("debug.getDebugDataColumnSidecars", {
  name: "get_v1_debug_beacon_data_column_sidecars_blockId",
  summary: "The data column sidecars of a block that the node has; none before fulu.",
  params: {
    blockId: BLOCK_ID,
    indices: optional(
      uniqueArrayOf(columnIndex, { noun: "column indices" }),
      "Column indices; those that the node does not have are ignored. Default: all.",
    ),
  },
  result: { name: "sidecars", schema: list(shape("DataColumnSidecar")) },
  failures: ["not-found"],
  rest: [get("/eth/v1/debug/beacon/data_column_sidecars/{block_id}", { ssz: "response" })],
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
  const filter = versionedHashes && new Set(versionedHashes.map((hash) => hash.toLowerCase()));
  const hashes = versionedHashesOf(commitmentsOf(block.signed)).map((hash) => toHex(hash));
  const selected = indicesOf(hashes, (_, hash) => filter?.has(hash) ?? true);
  const blobs = selected.length === 0 ? [] : await blobsOf(chain, block);
  return { type: ssz.deneb.Blob, elements: selected.map((index) => blobs[index]!), meta: metaOf(block) };
}

async function readBlobSidecars({ chain }: ApiContext, { blockId, indices }: { blockId: BlockId; indices?: number[] }) {
  const block = await resolveBlock(chain, blockId);
  const selected = indicesOf(commitmentsOf(block.signed), (index) => indices?.includes(index) ?? true);
  return {
    type: ssz.deneb.BlobSidecar,
    elements: selected.length === 0 ? [] : await blobSidecars(chain, block, selected),
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
  const available = await chain.data.indices(block.root);
  if (available.length === 0) throw dataUnavailable(chain, block, "columns");
  const selected = available.filter((index) => indices?.includes(index) ?? true);
  const columns = await Promise.all(selected.map((index) => chain.data.sidecarBytes(block.root, index)));
  // A column may have been pruned in the meantime.
  const elements = columns.filter((bytes) => bytes !== null);
  return { type, elements, meta };
}

function indicesOf<T>(values: readonly T[], isSelected: (index: number, value: T) => boolean): number[] {
  return [...values.keys()].filter((index) => isSelected(index, values[index]!));
}

async function blobsOf(chain: BeaconChain, block: ChainBlock): Promise<Uint8Array[]> {
  try {
    return await chain.data.blobs(block);
  } catch (error) {
    if (error instanceof DataUnavailableError) throw dataUnavailable(chain, block, "blobs", error);
    throw error;
  }
}

async function blobSidecars(chain: BeaconChain, block: ChainBlock, selected: readonly number[]): Promise<Uint8Array[]> {
  if (chain.data.hasColumns(block.slot)) return computeBlobSidecars(chain, block, selected);
  return Promise.all(
    selected.map(async (index) => {
      const bytes = await chain.data.sidecarBytes(block.root, index);
      if (bytes === null) throw dataUnavailable(chain, block, "blobs");
      return bytes;
    }),
  );
}

/** Computes blob sidecars for forks from fulu on, when only columns are stored. Blob proofs are computed on demand. */
async function computeBlobSidecars(
  chain: BeaconChain,
  block: ChainBlock,
  selected: readonly number[],
): Promise<Uint8Array[]> {
  const { config, data } = chain;
  const blobs = await blobsOf(chain, block);
  const proofs: Uint8Array[] = [];
  await Promise.all(
    selected.map(async (index) => {
      proofs[index] = await data.kzg.blobProofOf(blobs[index]!, commitmentsOf(block.signed)[index]!);
    }),
  );
  const sidecars = blobSidecarsOf(config, block.signed, { blobs, proofs });
  return selected.map((index) => ssz.deneb.BlobSidecar.serialize(sidecars[index]!));
}

function dataUnavailable(
  { config, data }: BeaconChain,
  { slot }: ChainBlock,
  what: "blobs" | "columns",
  cause?: Error,
): Failure {
  if (data.isWithinWindow(slot)) {
    return notFound(cause?.message ?? `The node does not have the ${what} of the block of slot ${slot}.`, { cause });
  }
  const epochs = data.hasColumns(slot)
    ? config.MIN_EPOCHS_FOR_DATA_COLUMN_SIDECARS_REQUESTS
    : config.MIN_EPOCHS_FOR_BLOB_SIDECARS_REQUESTS;
  return notFound(`The ${what} of the block of slot ${slot} were pruned: they are kept for ${epochs} epochs.`, {
    cause,
  });
}
