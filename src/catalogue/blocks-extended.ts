import { routes } from "@lodestar/api";
import { CONSENSUS_VERSION, requireVersion } from "./consensus-version.ts";
import { defineEntry, get, optional, post, required } from "./entry.ts";
import { arrayOf } from "./params/arrays.ts";
import { root } from "./params/bytes.ts";
import { blockId } from "./params/identifiers.ts";
import { signedBlindedBlock } from "./params/signed-blinded-block.ts";
import { signedBlock } from "./params/signed-block.ts";
import { word } from "./params/word.ts";

const { gossip, consensus, consensusAndEquivocation } = routes.beacon.BroadcastValidation;

const BLOCK_ID = required(blockId, "Which block: head, genesis, finalized, a slot or a block root.");
const BROADCAST_VALIDATION = optional(
  word([gossip, consensus, consensusAndEquivocation]),
  "The rules that a block must pass to be broadcast; one that fails is rejected. By default those of gossip.",
);

/** What concerns blocks and the interface document does not number. */
export const extendedBlockEntries = [
  defineEntry({
    number: null,
    name: "post_v2_beacon_blocks",
    summary: "Takes a signed block: 200 when it was broadcast and imported, 202 when it was only broadcast.",
    params: {
      signed_block_or_contents: required(
        signedBlock,
        "A signed block of the fork of its slot; from Deneb to Fulu together with its blobs.",
      ),
      broadcast_validation: BROADCAST_VALIDATION,
      consensus_version: CONSENSUS_VERSION,
    },
    rest: post("/eth/v2/beacon/blocks"),
    submission: true,
    invoke: async (
      { operations, chainConfig },
      { signed_block_or_contents, broadcast_validation, consensus_version },
    ) => {
      requireVersion(consensus_version, chainConfig.getForkName(signed_block_or_contents.signedBlock.message.slot));
      return operations.beacon.publishBlockV2({
        signedBlockContents: signed_block_or_contents,
        broadcastValidation: broadcast_validation,
      });
    },
  }),
  defineEntry({
    number: null,
    name: "post_v2_beacon_blinded_blocks",
    aliases: ["post_v1_beacon_blinded_blocks"],
    summary:
      "Takes a signed block without its payload, which must be one that the node knows; answers like post_v2_beacon_blocks.",
    params: {
      signed_blinded_block: required(signedBlindedBlock, "A signed blinded block of the fork of its slot."),
      broadcast_validation: BROADCAST_VALIDATION,
      consensus_version: CONSENSUS_VERSION,
    },
    rest: post("/eth/v2/beacon/blinded_blocks"),
    submission: true,
    invoke: async ({ operations, chainConfig }, { signed_blinded_block, broadcast_validation, consensus_version }) => {
      requireVersion(consensus_version, chainConfig.getForkName(signed_blinded_block.message.slot));
      return operations.beacon.publishBlindedBlockV2({
        signedBlindedBlock: signed_blinded_block,
        broadcastValidation: broadcast_validation,
      });
    },
  }),
  defineEntry({
    number: null,
    name: "get_v1_beacon_blinded_blocks_blockId",
    summary: "A signed block with the header of its payload instead of the payload; before bellatrix the block itself.",
    params: { block_id: BLOCK_ID },
    rest: get("/eth/v1/beacon/blinded_blocks/{block_id}"),
    invoke: ({ operations }, { block_id }) => operations.beacon.getBlindedBlock({ blockId: block_id }),
  }),
  defineEntry({
    number: null,
    name: "get_v2_beacon_blocks_blockId_attestations",
    summary: "The attestations that a block includes, in its order, with the fork that they belong to.",
    params: { block_id: BLOCK_ID },
    rest: get("/eth/v2/beacon/blocks/{block_id}/attestations"),
    invoke: ({ operations }, { block_id }) => operations.beacon.getBlockAttestationsV2({ blockId: block_id }),
  }),
  defineEntry({
    number: null,
    name: "get_v1_beacon_blobs_blockId",
    summary: "The blobs of a block, from deneb on. The node keeps none, so it answers only for blocks without any.",
    params: {
      block_id: BLOCK_ID,
      versioned_hashes: optional(
        arrayOf(root, { noun: "versioned hashes" }),
        "Only the blobs with these versioned hashes; by default all.",
      ),
    },
    rest: get("/eth/v1/beacon/blobs/{block_id}"),
    invoke: ({ operations }, { block_id, versioned_hashes }) =>
      operations.beacon.getBlobs({ blockId: block_id, versionedHashes: versioned_hashes }),
  }),
];
