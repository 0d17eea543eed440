import type { Type } from "@chainsafe/ssz";
import type { routes } from "@lodestar/api";
import { type ForkPostBellatrix, type ForkPreGloas, isForkPostBellatrix, isForkPostGloas } from "@lodestar/params";
import { signedBeaconBlockToBlinded } from "@lodestar/state-transition";
import type { RootHex, SignedBeaconBlock, SignedBlindedBeaconBlock, Slot } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { ChainBlock } from "../../../chain/blocks/block-store.ts";
import { signedHeaderOf } from "../../../chain/blocks/signed-header.ts";
import type { BeaconChain } from "../../../chain/chain.ts";
import { encodeJson } from "../../../json/encode.ts";
import { sszJson } from "../../../json/ssz-json.ts";
import type { MethodResponse } from "../../../server/method-table.ts";
import type { MetaCodec } from "../../codecs.ts";
import { defineEncoded, defineOperation, get, optional } from "../../definition.ts";
import { encodeMeta } from "../../encoding.ts";
import {
  findBlock,
  metaOf,
  resolveBlock,
  resolveBlockPosition,
  slotOrRoot,
  type VersionedMeta,
  versionedMetaOf,
} from "../../lookup.ts";
import { BLOCK_ID } from "../../params/common.ts";
import { blockId } from "../../params/identifiers.ts";
import { root, slot } from "../../params/scalars.ts";
import { signedBlindedBlockType } from "../../params/signed-blocks.ts";
import { either, list, nothing, object, shape } from "../../schemas.ts";

const getBlockHeaders = defineOperation("beacon.getBlockHeaders", {
  number: 9,
  name: "get_v1_beacon_headers",
  summary: "Headers of the blocks of a slot or of the children of a block. Default: the slot of the head.",
  params: {
    slot: optional(slot, "Only blocks of this slot."),
    parentRoot: optional(root, "Only blocks whose parent has this root."),
  },
  result: { name: "headers", schema: list(shape("BlockHeader")) },
  failures: [],
  rest: [get("/eth/v1/beacon/headers")],
  cost: "cheap",
  access: "read",
  dependsOn: "head",
  example: { params: (chain) => [String(chain.slot - 1)] },
  async handler({ chain }, { slot, parentRoot }) {
    const blocks = await blocksMatching(chain, slot, parentRoot);
    return {
      data: blocks.map((block) => headerOf(chain, block)),
      meta: metaOf({
        executionOptimistic: blocks.some((block) => block.executionOptimistic),
        finalized: blocks.length > 0 && blocks.every((block) => block.finalized),
      }),
    };
  },
});

const getBlockHeader = defineOperation("beacon.getBlockHeader", {
  number: 10,
  name: "get_v1_beacon_headers_blockId",
  summary: "The signed header of a block, its root, and whether it is canonical.",
  params: { blockId: BLOCK_ID },
  result: { name: "header", schema: shape("BlockHeader") },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/headers/{block_id}")],
  cost: "cheap",
  access: "read",
  dependsOn: "head",
  example: { params: ["finalized"] },
  async handler({ chain }, { blockId }) {
    const block = await resolveBlock(chain, blockId);
    return { data: headerOf(chain, block), meta: metaOf(block) };
  },
});

const getBlock = defineOperation("beacon.getBlockV2", {
  number: 12,
  name: "get_v1_beacon_blocks_blockId",
  aliases: ["get_v2_beacon_blocks_blockId"],
  summary: "A signed block.",
  params: { blockId: BLOCK_ID },
  result: { name: "signed_block", schema: shape("SignedBeaconBlock") },
  failures: ["not-found"],
  rest: [
    get("/eth/v2/beacon/blocks/{block_id}", { ssz: "response" }),
    get("/eth/v1/beacon/blocks/{block_id}", { ssz: "response" }),
  ],
  cost: "cheap",
  access: "read",
  dependsOn: "head",
  example: { params: (chain) => [chain.headRoot] },
  async handler({ chain }, { blockId }) {
    const block = await resolveBlock(chain, blockId);
    return { data: block.signed, meta: versionedMetaOf(chain, block.slot, block) };
  },
  json: async ({ chain }, { blockId }, codec) => blockResponse(chain, await resolveBlock(chain, blockId), codec.meta),
});

const getBlockRoot = defineOperation("beacon.getBlockRoot", {
  number: 13,
  name: "get_v1_beacon_blocks_blockId_root",
  summary: "The root of a block.",
  params: { blockId: BLOCK_ID },
  result: { name: "root", schema: object({ root: shape("Root") }) },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/blocks/{block_id}/root")],
  cost: "cheap",
  access: "read",
  dependsOn: "head",
  example: { params: ["finalized"] },
  async handler({ chain }, { blockId }) {
    const position = await resolveBlockPosition(chain, blockId);
    return { data: { root: fromHex(position.root) }, meta: metaOf(position) };
  },
});

const ATTESTATIONS = { name: "attestations", schema: list(shape("Attestation")) };

const getBlockAttestations = defineEncoded({
  number: 14,
  name: "get_v1_beacon_blocks_blockId_attestations",
  summary: "The attestations in a block.",
  params: { blockId: BLOCK_ID },
  result: ATTESTATIONS,
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/blocks/{block_id}/attestations")],
  cost: "cheap",
  access: "read",
  example: { params: (chain) => [String(chain.slot - 1)] },
  // The first version does not return a `version`.
  codec: ({ beacon }) => ({
    ...beacon.getBlockAttestationsV2.resp,
    meta: beacon.getBlockRoot.resp.meta,
  }),
  handler: ({ chain }, { blockId }) => attestationsOf(chain, blockId),
});

const getBlockAttestationsV2 = defineOperation("beacon.getBlockAttestationsV2", {
  name: "get_v2_beacon_blocks_blockId_attestations",
  summary: "The attestations in a block, with their fork as metadata.",
  params: { blockId: BLOCK_ID },
  result: ATTESTATIONS,
  failures: ["not-found"],
  rest: [get("/eth/v2/beacon/blocks/{block_id}/attestations")],
  cost: "cheap",
  access: "read",
  example: { params: (chain) => [String(chain.slot - 1)] },
  handler: ({ chain }, { blockId }) => attestationsOf(chain, blockId),
});

/** Encodes blinded blocks. For gloas the library would use the type of electra. */
const BLINDED_BLOCK = {
  toJson: (block: unknown, meta: unknown) => typeOfBlinded(meta).toJson(block as SignedBlindedBeaconBlock),
  fromJson: (json: unknown, meta: unknown) => typeOfBlinded(meta).fromJson(json),
  serialize: (block: unknown, meta: unknown) => typeOfBlinded(meta).serialize(block as SignedBlindedBeaconBlock),
  deserialize: (bytes: Uint8Array, meta: unknown) => typeOfBlinded(meta).deserialize(bytes),
};

const typeOfBlinded = (meta: unknown) => signedBlindedBlockType((meta as VersionedMeta).version);

const getBlindedBlock = defineOperation("beacon.getBlindedBlock", {
  name: "get_v1_beacon_blinded_blocks_blockId",
  summary: "A signed blinded block, with the header of its payload; before bellatrix and since gloas the block itself.",
  params: { blockId: BLOCK_ID },
  result: { name: "signed_blinded_block", schema: shape("SignedBlindedBeaconBlock") },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/blinded_blocks/{block_id}", { ssz: "response" })],
  cost: "cheap",
  access: "read",
  example: { params: ["head"] },
  codec: ({ beacon }) => ({ ...beacon.getBlindedBlock.resp, data: BLINDED_BLOCK }),
  async handler({ chain }, { blockId }) {
    const block = await resolveBlock(chain, blockId);
    const meta = versionedMetaOf(chain, block.slot, block);
    const hasPayload = isForkPostBellatrix(meta.version) && !isForkPostGloas(meta.version);
    return { data: hasPayload ? blinded(chain, block.signed) : block.signed, meta };
  },
});

const getBeaconBlock = defineEncoded({
  number: 55,
  name: "getBeaconBlock",
  summary: "The signed block of a slot or root; null if there is none.",
  params: {
    slot: optional(blockId, "Slot of a canonical block, or any other block id."),
    root: optional(root, "Root of a block, if no slot is given."),
  },
  result: { name: "signed_block", schema: either(shape("SignedBeaconBlock"), nothing) },
  failures: [],
  cost: "cheap",
  access: "read",
  example: { params: (chain) => [String(chain.slot - 1)] },
  codec: (codecs) => codecs.beacon.getBlockV2.resp,
  async json({ chain }, args, codec) {
    const block = await findBlock(chain, slotOrRoot("getBeaconBlock", args));
    return block === null ? { body: encodeJson(null) } : blockResponse(chain, block, codec.meta);
  },
});

function blockResponse(chain: BeaconChain, block: ChainBlock, codec: MetaCodec<VersionedMeta>): MethodResponse {
  return { body: blockJson(chain, block), ...encodeMeta(codec, versionedMetaOf(chain, block.slot, block)) };
}

/** Encodes a block as JSON from its SSZ, which is many times faster than using the codec. */
function blockJson({ config }: BeaconChain, { slot, signed }: ChainBlock): Buffer {
  const type = config.getForkTypes(slot).SignedBeaconBlock as Type<unknown>;
  return sszJson(type, type.serialize(signed));
}

export const blockMethods = [
  getBlockHeaders,
  getBlockHeader,
  getBlock,
  getBlockRoot,
  getBlockAttestations,
  getBlindedBlock,
  getBlockAttestationsV2,
  getBeaconBlock,
] as const;

/** Returns the blocks that match both filters. If there are no filters, returns the blocks in the head's slot. */
async function blocksMatching(
  chain: BeaconChain,
  slot: Slot | undefined,
  parentRoot: RootHex | undefined,
): Promise<ChainBlock[]> {
  if (parentRoot !== undefined) {
    const children = await chain.blocks.childrenOf(parentRoot);
    const matching = slot === undefined ? children : children.filter((block) => block.slot === slot);
    return matching.sort((a, b) => Number(b.canonical) - Number(a.canonical));
  }
  if (slot === undefined) return chain.blocks.atSlot(chain.head.slot);
  if (slot > Math.max(chain.clock.currentSlot, chain.head.slot)) return [];
  return chain.blocks.atSlot(slot);
}

function headerOf({ config }: BeaconChain, { root, canonical, signed }: ChainBlock): routes.beacon.BlockHeaderResponse {
  return { root: fromHex(root), canonical, header: signedHeaderOf(config, signed) };
}

async function attestationsOf(chain: BeaconChain, blockId: routes.beacon.BlockId) {
  const block = await resolveBlock(chain, blockId);
  return { data: block.signed.message.body.attestations, meta: versionedMetaOf(chain, block.slot, block) };
}

function blinded({ config }: BeaconChain, signed: SignedBeaconBlock): SignedBlindedBeaconBlock {
  return signedBeaconBlockToBlinded(config, signed as SignedBeaconBlock<ForkPostBellatrix & ForkPreGloas>);
}
