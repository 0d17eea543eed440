import type { deneb } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import type { ChainBlock } from "../../chain/blocks/block-store.ts";
import { versionedHashesOf } from "../../execution/engine.ts";
import { notFound } from "../../failure.ts";
import { defineOperation, get, optional } from "../definition.ts";
import { metaOf, resolveBlock, versionedMetaOf } from "../lookup.ts";
import { BLOCK_ID } from "../params/common.ts";
import { arrayOf, root, uint64 } from "../params/scalars.ts";
import { list, text } from "../schemas.ts";

const getBlobs = defineOperation("beacon.getBlobs", {
  name: "get_v1_beacon_blobs_blockId",
  summary: "The blobs of a block; none before deneb. The node keeps none, so it answers only for blocks without any.",
  params: {
    blockId: BLOCK_ID,
    versionedHashes: optional(
      arrayOf(root, { noun: "versioned hashes" }),
      "Only the blobs with these versioned hashes; by default all.",
    ),
  },
  result: { name: "blobs", schema: list(text) },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/blobs/{block_id}", { ssz: "answer" })],
  cost: "cheap",
  access: "read",
  example: { params: ["head"] },
  async handler({ chain }, { blockId, versionedHashes = [] }) {
    const block = await resolveBlock(chain, blockId);
    const hashes = versionedHashesOf(blobCommitments(block)).map((hash) => toHex(hash));
    const wanted = new Set(versionedHashes.map((hash) => hash.toLowerCase()));
    requireNoBlobs(block, wanted.size === 0 ? hashes : hashes.filter((hash) => wanted.has(hash)));
    return { data: [], meta: metaOf(block) };
  },
});

const getBlobSidecars = defineOperation("beacon.getBlobSidecars", {
  name: "get_v1_beacon_blob_sidecars_blockId",
  summary:
    "The blobs of a block with their proofs; none before deneb. The node keeps none, as get_v1_beacon_blobs_blockId.",
  params: {
    blockId: BLOCK_ID,
    indices: optional(
      arrayOf(uint64, { noun: "blob indices" }),
      "Only the blobs with these indices, where the block has them; by default all.",
    ),
  },
  result: { name: "sidecars", schema: list({ type: "object" }) },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/blob_sidecars/{block_id}", { ssz: "answer" })],
  cost: "cheap",
  access: "read",
  example: { params: ["head"] },
  async handler({ chain }, { blockId, indices }) {
    const block = await resolveBlock(chain, blockId);
    const held = [...blobCommitments(block).keys()];
    requireNoBlobs(block, indices === undefined ? held : held.filter((index) => indices.includes(index)));
    return { data: [], meta: versionedMetaOf(chain, block.slot, block) };
  },
});

export const blobMethods = [getBlobs, getBlobSidecars] as const;

/** Before deneb there are none. */
export function blobCommitments({ signed }: ChainBlock): deneb.BlobKzgCommitments {
  return (signed.message.body as Partial<deneb.BeaconBlockBody>).blobKzgCommitments ?? [];
}

/** Refuses to give what a block commits to, but the node does not have. */
export function requireNoBlobs({ slot }: ChainBlock, asked: readonly unknown[]): void {
  if (asked.length === 0) return;
  throw notFound(
    `The block of slot ${slot} commits to ${asked.length} blobs that are asked for, but the node keeps no blobs.`,
  );
}
