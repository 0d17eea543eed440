import type { routes } from "@lodestar/api";
import { ForkName } from "@lodestar/params";
import type { gloas, RootHex, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BidExpectation } from "../../../chain/bids/bid-validation.ts";
import type { BidPreferences, WeightedBid } from "../../../chain/bids/execution-bids.ts";
import { bidOf } from "../../../chain/blocks/bid.ts";
import type { BeaconChain } from "../../../chain/chain.ts";
import type { ProducedFullBlock } from "../../../chain/production/block-producer.ts";
import { payloadEnvelope } from "../../../chain/production/self-build.ts";
import { notFound } from "../../../errors/failure.ts";
import { BuilderEntries } from "../../../execution/builder/request-auth.ts";
import { defineEncoded, defineOperation, get, optional, post, required } from "../../definition.ts";
import { BUILDER_URL_HEADER, builderEntries } from "../../params/builder-entries.ts";
import { boolean, exactUint64, graffitiHex, root, slot } from "../../params/scalars.ts";
import { requireForkAt } from "../../preconditions.ts";
import { either, list, object, shape } from "../../schemas.ts";
import { BLOCK_PRODUCTION_PARAMS, type BlockProductionRequest, requestOnHead } from "./block-production.ts";

const BLOCK = {
  name: "block",
  schema: either(
    shape("BeaconBlock"),
    object({
      block: shape("BeaconBlock"),
      execution_payload_envelope: shape("ExecutionPayloadEnvelope"),
      kzg_proofs: list(shape("Bytes")),
      blobs: list(shape("Bytes")),
    }),
  ),
};

const PARAMS = {
  ...BLOCK_PRODUCTION_PARAMS,
  graffiti: { ...BLOCK_PRODUCTION_PARAMS.graffiti, restSchema: graffitiHex },
  includePayload: optional(
    boolean,
    "False to leave out a self-built payload, which only this node can reveal then. Default: true.",
  ),
};

const produceBlockV4 = defineOperation("validator.produceBlockV4", {
  name: "get_v4_validator_blocks_slot",
  aliases: ["get_v4_validator_block"],
  summary:
    "A new block on the head for its proposer to sign, with a self-built bid or a builder's bid that is worth more. A " +
    "self-built payload is included, or kept by the node.",
  params: {
    ...PARAMS,
    builderBoostFactor: optional(
      exactUint64,
      "Weight of bids against the local payload in percent: 0 always prefers the local payload, 2^64-1 a bid. Default: 100.",
    ),
  },
  result: BLOCK,
  failures: ["unavailable"],
  rest: [get("/eth/v4/validator/blocks/{slot}", { ssz: "response" })],
  cost: "duty",
  access: "read",
  since: ForkName.gloas,
  example: {
    stage: "propose",
    params: async (chain) => [String(chain.slot), await chain.randaoReveal(), "an example", false, true, "100"],
  },
  handler: ({ chain }, { builderBoostFactor, ...request }) =>
    produce(chain, request, { boostFactor: builderBoostFactor }),
});

const { slot: SLOT, ...PARAMS_AFTER_BODY } = PARAMS;

/** Later than the library and its document (ethereum/beacon-APIs#630). */
const produceBlockWithBuilders = defineEncoded({
  name: "post_v4_validator_blocks_slot",
  summary:
    "Like get_v4_validator_blocks_slot, and asks the builder for bids. The metadata name the builder whose bid the block " +
    "has, for the publication of the block.",
  params: {
    slot: SLOT,
    builderEntries: required(
      builderEntries,
      "Builders to ask for bids, with limits and boost factors. Only the builder of --builder is asked.",
      { defaultBody: [] },
    ),
    ...PARAMS_AFTER_BODY,
  },
  result: BLOCK,
  failures: ["unavailable"],
  rest: [post("/eth/v4/validator/blocks/{slot}", { ssz: "both" })],
  cost: "duty",
  access: "read",
  since: ForkName.gloas,
  example: {
    stage: "propose",
    params: async (chain) => [String(chain.slot), [], await chain.randaoReveal(), "an example", false, true],
  },
  codec: ({ validator: { produceBlockV4 } }) => ({
    data: produceBlockV4.resp.data,
    meta: {
      toJson: ({ builderUrl, ...meta }: BlockMeta) => ({
        ...(produceBlockV4.resp.meta.toJson(meta) as object),
        ...(builderUrl !== undefined && { builder_url: builderUrl }),
      }),
      toHeadersObject: ({ builderUrl, ...meta }: BlockMeta) => ({
        ...produceBlockV4.resp.meta.toHeadersObject(meta),
        ...(builderUrl !== undefined && { [BUILDER_URL_HEADER]: builderUrl }),
      }),
    },
  }),
  requestCodec: () => ({ parseReqSsz: ({ body }) => ({ builderEntries: BuilderEntries.deserialize(body) }) }),
  async handler({ chain }, { builderEntries: entries, ...request }) {
    let bids: WeightedBid[] = [];
    const requestBids = async (expectation: BidExpectation) => {
      bids = await chain.builderMarket.bidsFor(entries, expectation);
      return bids;
    };
    const { data, meta } = await produce(chain, request, { requestBids });
    const { signedExecutionPayloadBid } = ("block" in data ? data.block : data).body;
    const builderUrl = bids.find(({ signed }) => signed === signedExecutionPayloadBid)?.url;
    return { data, meta: { ...meta, builderUrl } };
  },
});

const getExecutionPayloadEnvelope = defineOperation("validator.getExecutionPayloadEnvelope", {
  name: "get_v1_validator_execution_payload_envelopes_slot_beaconBlockRoot",
  summary: "The envelope of a block whose payload this node built, for the proposer or the builder to sign.",
  params: { slot: required(slot, "Slot of the block."), beaconBlockRoot: required(root, "Root of the block.") },
  result: { name: "envelope", schema: shape("ExecutionPayloadEnvelope") },
  failures: ["not-found"],
  rest: [get("/eth/v1/validator/execution_payload_envelopes/{slot}/{beacon_block_root}", { ssz: "response" })],
  cost: "duty",
  access: "read",
  since: ForkName.gloas,
  example: {
    stage: "propose",
    params: async (chain) => [String(chain.slot), await chain.signedBlockRoot()],
  },
  async handler({ chain }, { slot, beaconBlockRoot }) {
    requireForkAt(chain.config, ForkName.gloas, slot, "Execution payload envelopes");
    const data = await builtEnvelope(chain, slot, beaconBlockRoot);
    if (data) return { data, meta: { version: chain.config.getForkName(slot) } };
    throw notFound(
      `No execution payload envelope for block ${beaconBlockRoot} of slot ${slot}: a node keeps those of the payloads ` +
        "that it has built recently.",
    );
  },
});

export const gloasBlockMethods = [produceBlockV4, produceBlockWithBuilders, getExecutionPayloadEnvelope] as const;

type BlockMeta = routes.validator.ProduceBlockV4Meta & { builderUrl?: string | undefined };

async function produce(
  chain: BeaconChain,
  { includePayload = true, ...request }: BlockProductionRequest & { includePayload?: boolean },
  preferences: BidPreferences,
) {
  requireForkAt(chain.config, ForkName.gloas, request.slot, "Blocks with bids");
  const produced = await chain.producer.produce(await requestOnHead(chain, request), preferences);
  const { fork: version, consensusBlockValue, executionPayloadValue } = produced;
  const contents = includePayload ? contentsOf(produced) : undefined;
  return {
    data: contents ?? (produced.block as gloas.BeaconBlock),
    meta: { version, consensusBlockValue, executionPayloadValue, executionPayloadIncluded: contents !== undefined },
  };
}

/** Undefined for a block with the bid of a builder, whose payload is not known. */
function contentsOf({ block, envelope, blobsBundle }: ProducedFullBlock): gloas.BlockContents | undefined {
  if (!envelope) return undefined;
  const { proofs = [], blobs = [] } = blobsBundle ?? {};
  return {
    block: block as gloas.BeaconBlock,
    executionPayloadEnvelope: envelope,
    kzgProofs: [...proofs],
    blobs: [...blobs],
  };
}

/** Returns the envelope of a produced block, or of a published block with a bid for a payload that the node built. */
async function builtEnvelope(
  { producer, blocks }: BeaconChain,
  slot: Slot,
  blockRoot: RootHex,
): Promise<gloas.ExecutionPayloadEnvelope | undefined> {
  const produced = producer.envelopeOf(blockRoot);
  if (produced) return produced.payload.slotNumber === slot ? produced : undefined;
  const message = (await blocks.signedByRoot(blockRoot))?.message;
  const bid = message && bidOf(message);
  const built = bid && producer.builtPayload(toRootHex(bid.blockHash));
  if (!built || message.slot !== slot) return undefined;
  return payloadEnvelope({ root: blockRoot, parentRoot: message.parentRoot }, built, bid.builderIndex);
}
