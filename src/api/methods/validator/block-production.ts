import type { routes } from "@lodestar/api";
import {
  ForkName,
  type ForkPostBellatrix,
  type ForkPreGloas,
  ForkSeq,
  isForkPostBellatrix,
  SLOTS_PER_EPOCH,
} from "@lodestar/params";
import {
  beaconBlockToBlinded,
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  getRandaoRevealSignatureSet,
} from "@lodestar/state-transition";
import {
  type BeaconBlock,
  type BlindedBeaconBlock,
  type BlockContents,
  ProducedBlockSource,
  type Slot,
} from "@lodestar/types";
import type { BeaconChain } from "../../../chain/chain.ts";
import type { ProducedBlock, ProducedFullBlock } from "../../../chain/production/block-producer.ts";
import { type BlockRequest, blockRequest } from "../../../chain/production/block-request.ts";
import { invalidParams, unsupported } from "../../../errors/failure.ts";
import type { Codecs, ResponseCodec } from "../../codecs.ts";
import { defineEncoded, defineOperation, get, optional, required } from "../../definition.ts";
import {
  boolean,
  exactUint64,
  executionAddress,
  graffiti,
  graffitiHex,
  parseFixedHex,
  parseGraffitiValue,
  signature,
  slot,
} from "../../params/scalars.ts";
import { requireSynced, requireVerifiedHead } from "../../preconditions.ts";
import { either, list, object, shape } from "../../schemas.ts";

export interface BlockProductionRequest {
  slot: Slot;
  randaoReveal: Uint8Array;
  graffiti?: Uint8Array;
  skipRandaoVerification?: boolean;
  feeRecipient?: Uint8Array;
}

interface PayloadPreference {
  /** Weight of builder bids in percent. Defaults to `--builder-boost-factor`. */
  builderBoostFactor?: bigint;
}

/** Maximum distance of a produced block from the head. */
const MAX_EPOCHS_AHEAD = 2;
/** The compressed point at infinity, which serves as the reveal if verification is skipped. */
const POINT_AT_INFINITY = Uint8Array.from({ length: 96 }, (_, i) => (i === 0 ? 0xc0 : 0));

export const BLOCK_PRODUCTION_PARAMS = {
  slot: required(slot, "Slot of the block, after the head: the current slot, or up to two epochs after the head."),
  randaoReveal: required(signature, "The proposer's signature over the epoch."),
  graffiti: optional(graffiti, "At most 32 bytes of text or hex. Default: the graffiti of setGraffiti."),
  skipRandaoVerification: optional(boolean, "Accepts the point at infinity as the reveal.", { isFlag: true }),
};

const BLOCK_FORMS = [
  shape("BeaconBlock"),
  object({ block: shape("BeaconBlock"), kzg_proofs: list(shape("Bytes")), blobs: list(shape("Bytes")) }),
];

const produceBlockV2 = defineEncoded({
  number: 32,
  name: "get_v1_validator_block",
  aliases: ["get_v2_validator_blocks_slot", "get_v1_validator_blocks_slot"],
  summary: "A new block on the head for its proposer to sign.",
  params: BLOCK_PRODUCTION_PARAMS,
  normalizePositional: revealBeforeGraffiti,
  result: { name: "block", schema: either(...BLOCK_FORMS) },
  failures: ["unavailable", "unsupported"],
  rest: [get("/eth/v2/validator/blocks/{slot}", { ssz: "response" }), get("/eth/v1/validator/blocks/{slot}")],
  cost: "duty",
  access: "read",
  until: ForkName.gloas,
  example: {
    stage: "propose",
    params: async (chain) => [String(chain.slot), await chain.randaoReveal(), "an example"],
  },
  codec: (codecs) => {
    const { data, meta } = withForkOnly(codecs);
    // Validator clients written for the second version read the value under this name, and some of them require it.
    const toJson = (produced: routes.validator.ProduceBlockV3Meta) => ({
      ...(meta.toJson(produced) as object),
      block_value: produced.executionPayloadValue.toString(),
    });
    return { data, meta: { ...meta, toJson } };
  },
  async handler({ chain }, request) {
    const produced = await produceBlock(chain, request);
    return { data: toContents(produced), meta: metaOf(produced) };
  },
});

const produceBlindedBlock = defineEncoded({
  name: "get_v1_validator_blinded_blocks_slot",
  summary: "A new blinded block, with the header of a local or builder payload; before bellatrix a full block.",
  params: BLOCK_PRODUCTION_PARAMS,
  result: { name: "blinded_block", schema: shape("BlindedBeaconBlock") },
  failures: ["unavailable", "unsupported"],
  rest: [get("/eth/v1/validator/blinded_blocks/{slot}", { ssz: "response" })],
  cost: "duty",
  access: "read",
  until: ForkName.gloas,
  example: {
    stage: "propose",
    params: async (chain) => [String(chain.slot), await chain.randaoReveal(), "an example"],
  },
  codec: withForkOnly,
  async handler({ chain }, request) {
    const produced = await produceBestBlock(chain, request);
    const meta = metaOf(produced);
    if (produced.isBlinded) return { data: produced.block, meta };
    const { block, fork } = produced;
    if (!isForkPostBellatrix(fork)) return { data: toContents(produced), meta };
    const blinded = beaconBlockToBlinded(chain.config, block as BeaconBlock<ForkPostBellatrix & ForkPreGloas>);
    return { data: blinded, meta: { ...meta, executionPayloadBlinded: true } };
  },
});

const produceBlockV3 = defineOperation("validator.produceBlockV3", {
  name: "get_v3_validator_blocks_slot",
  aliases: ["get_v3_validator_block"],
  summary:
    "A new block on the head for its proposer to sign, with its value as metadata. It is blinded if a builder's bid is worth " +
    "more than the local payload.",
  params: {
    ...BLOCK_PRODUCTION_PARAMS,
    graffiti: { ...BLOCK_PRODUCTION_PARAMS.graffiti, restSchema: graffitiHex },
    builderBoostFactor: optional(
      exactUint64,
      "Weight of builder bids against the local payload in percent: 0 always prefers the local payload, 2^64-1 the builder. " +
        "Default: --builder-boost-factor.",
    ),
    feeRecipient: optional(executionAddress, "Fee recipient of the block, instead of the prepared one.", {
      only: "rest",
    }),
  },
  result: { name: "block", schema: either(...BLOCK_FORMS, shape("BlindedBeaconBlock")) },
  failures: ["unavailable", "unsupported"],
  rest: [get("/eth/v3/validator/blocks/{slot}", { ssz: "response" })],
  cost: "duty",
  access: "read",
  until: ForkName.gloas,
  example: {
    stage: "propose",
    params: async (chain) => [String(chain.slot), await chain.randaoReveal(), "an example", false, "100"],
  },
  async handler({ chain }, request) {
    const produced = await produceBestBlock(chain, request);
    return { data: produced.isBlinded ? produced.block : toContents(produced), meta: metaOf(produced) };
  },
});

export const blockProductionMethods = [produceBlockV2, produceBlockV3, produceBlindedBlock] as const;

/** Codec for the first two versions, whose only metadata is the fork. */
function withForkOnly({
  validator: { produceBlockV3, getAggregatedAttestationV2 },
}: Codecs): ResponseCodec<BlockContents | BlindedBeaconBlock, routes.validator.ProduceBlockV3Meta> {
  return { data: produceBlockV3.resp.data, meta: getAggregatedAttestationV2.resp.meta };
}

/** Accepts reveal and graffiti in either order, because earlier servers had the graffiti first. */
function revealBeforeGraffiti(params: unknown[]): unknown[] {
  const [slot, first, second, ...rest] = params;
  const isSwapped = parseFixedHex(second, 96) !== undefined && parseGraffitiValue(first) !== undefined;
  return isSwapped ? [slot, second, first, ...rest] : params;
}

function metaOf({ fork, isBlinded, executionPayloadValue, consensusBlockValue }: Omit<ProducedBlock, "block">) {
  return {
    version: fork,
    executionPayloadBlinded: isBlinded,
    executionPayloadSource: isBlinded ? ProducedBlockSource.builder : ProducedBlockSource.engine,
    executionPayloadValue,
    consensusBlockValue,
  };
}

/** Produces a block on top of the head with a local payload. */
export async function produceBlock(chain: BeaconChain, request: BlockProductionRequest): Promise<ProducedFullBlock> {
  requireSlotBeforeGloas(chain, request);
  const onHead = await requestOnHead(chain, request);
  return chain.producer.produce(onHead);
}

/** Produces a block on top of the head with a local payload or a builder's payload, whichever is worth more. */
async function produceBestBlock(
  chain: BeaconChain,
  { builderBoostFactor, ...request }: BlockProductionRequest & PayloadPreference,
): Promise<ProducedBlock> {
  requireSlotBeforeGloas(chain, request);
  const onHead = await requestOnHead(chain, request);
  return chain.producer.produceBest(onHead, builderBoostFactor);
}

function requireSlotBeforeGloas({ config }: BeaconChain, { slot }: BlockProductionRequest): void {
  if (config.getForkSeq(slot) < ForkSeq.gloas) return;
  throw unsupported(
    `Slot ${slot} is of ${config.getForkName(slot)}: use get_v4_validator_blocks_slot, or GET /eth/v4/validator/blocks/{slot} in REST.`,
  );
}

/** Returns the request for a block on top of the head. Throws if the node cannot or must not produce it. */
export async function requestOnHead(chain: BeaconChain, request: BlockProductionRequest): Promise<BlockRequest> {
  requireSynced(chain);
  await chain.pendingVerdicts.retry();
  await chain.refreshHead();
  await requireVerifiedHead(chain);
  const { head } = chain;
  const { slot } = request;
  if (slot <= head.slot) {
    throw invalidParams(`A block of slot ${slot} cannot be built on the head of slot ${head.slot}.`);
  }
  // The current slot is always allowed, so that a chain can resume after a long outage.
  if (slot > Math.max(head.slot + MAX_EPOCHS_AHEAD * SLOTS_PER_EPOCH, chain.clock.currentSlot)) {
    throw invalidParams(`Slot ${slot} is more than ${MAX_EPOCHS_AHEAD} epochs after the head of slot ${head.slot}.`);
  }
  const { root: parentRoot, payloadStatus } = chain.proposerHead.parentFor(slot);
  const preState = await chain.states.afterBlock(parentRoot, slot);
  await requireRandaoReveal(chain, preState, request);
  requireUnslashedProposer(preState, slot);
  return blockRequest(chain, preState.epochCtx.getBeaconProposer(slot), {
    ...request,
    parentRoot,
    parentPayload: payloadStatus === "full" ? "full" : "empty",
    isAnonymous: request.skipRandaoVerification === true,
  });
}

/**
 * Throws if the proposer has been slashed, because its block would be invalid (phase0/beacon-chain.md,
 * process_block_header).
 */
function requireUnslashedProposer({ epochCtx, validators }: CachedBeaconStateAllForks, slot: Slot): void {
  const proposer = epochCtx.getBeaconProposer(slot);
  if (validators.getReadonly(proposer).slashed) {
    throw invalidParams(`Slot ${slot} cannot have a block: its proposer, validator ${proposer}, is slashed.`);
  }
}

async function requireRandaoReveal(
  chain: BeaconChain,
  preState: CachedBeaconStateAllForks,
  request: BlockProductionRequest,
): Promise<void> {
  const { slot, randaoReveal, skipRandaoVerification } = request;
  if (skipRandaoVerification) {
    if (Buffer.compare(randaoReveal, POINT_AT_INFINITY) === 0) return;
    throw invalidParams("The randao reveal must be the point at infinity when its verification is skipped.");
  }
  const proposerIndex = preState.epochCtx.getBeaconProposer(slot);
  const unsigned = { slot, proposerIndex, body: { randaoReveal } } as BeaconBlock;
  if (!(await chain.validation.bls.verify([getRandaoRevealSignatureSet(chain.config, unsigned)]))) {
    throw invalidParams(
      `The randao reveal is not validator ${proposerIndex}'s signature over epoch ${computeEpochAtSlot(slot)}.`,
    );
  }
}

function toContents({ block, fork, blobsBundle }: ProducedFullBlock): BlockContents {
  if (ForkSeq[fork] < ForkSeq.deneb) return { block } as BlockContents;
  return { block, kzgProofs: blobsBundle?.proofs ?? [], blobs: blobsBundle?.blobs ?? [] } as BlockContents;
}
