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
import { described, either, list, object, shape, text } from "../../schemas.ts";

interface BlockProductionRequest {
  slot: Slot;
  randaoReveal: Uint8Array;
  graffiti?: Uint8Array;
  skipRandaoVerification?: boolean;
  feeRecipient?: Uint8Array;
}

interface PayloadPreference {
  /** The builder's bid is weighed with it, instead of what the node was started with. */
  builderBoostFactor?: bigint;
}

/** How far past the head a block may be asked for. */
const MAX_EPOCHS_AHEAD = 2;
/** The compressed point at infinity, which stands for "no reveal" when its verification is skipped. */
const POINT_AT_INFINITY = Uint8Array.from({ length: 96 }, (_, i) => (i === 0 ? 0xc0 : 0));

/** What a client says about the block that it wants to be made. */
const BLOCK_PRODUCTION_PARAMS = {
  slot: required(
    slot,
    "The slot of the block, after the head's: the current one, or at most two epochs past the head.",
  ),
  randaoReveal: required(signature, "The proposer's signature over the epoch."),
  graffiti: optional(graffiti, "At most 32 bytes of text or hex; by default what setGraffiti has set."),
  skipRandaoVerification: optional(boolean, "Takes the point at infinity in place of a reveal.", { isFlag: true }),
};

const PRODUCED_BLOCK = {
  name: "block",
  schema: either(
    shape("BeaconBlock"),
    object({ block: shape("BeaconBlock"), kzg_proofs: list(text), blobs: list(text) }),
  ),
};

const produceBlockV2 = defineEncoded({
  number: 32,
  name: "get_v1_validator_block",
  aliases: ["get_v2_validator_blocks_slot", "get_v1_validator_blocks_slot"],
  summary: "A new block on the head for its proposer to sign.",
  params: BLOCK_PRODUCTION_PARAMS,
  normalizePositional: arrangeRevealBeforeGraffiti,
  result: PRODUCED_BLOCK,
  failures: ["unavailable", "unsupported"],
  rest: [get("/eth/v2/validator/blocks/{slot}", { ssz: "answer" }), get("/eth/v1/validator/blocks/{slot}")],
  cost: "duty",
  access: "read",
  until: ForkName.gloas,
  example: {
    stage: "propose",
    params: async (chain) => [String(chain.slot), await chain.randaoReveal(), "an example"],
  },
  codec: (codecs) => {
    const { data, meta } = withForkAlone(codecs);
    // Validator clients of the second version's time read the value under this name, and some insist on it.
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
  summary:
    "A new block with the header of its payload instead of the payload, which may be a builder's; before bellatrix the " +
    "block itself.",
  params: BLOCK_PRODUCTION_PARAMS,
  result: {
    name: "blinded_block",
    schema: described(
      shape("BeaconBlock"),
      "From bellatrix on with execution_payload_header instead of execution_payload.",
    ),
  },
  failures: ["unavailable", "unsupported"],
  rest: [get("/eth/v1/validator/blinded_blocks/{slot}", { ssz: "answer" })],
  cost: "duty",
  access: "read",
  until: ForkName.gloas,
  example: {
    stage: "propose",
    params: async (chain) => [String(chain.slot), await chain.randaoReveal(), "an example"],
  },
  codec: withForkAlone,
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
    "A new block on the head for its proposer to sign, with what it is worth beside it; blinded, without the payload, where " +
    "a builder bids more than the node's own payload is worth.",
  params: {
    ...BLOCK_PRODUCTION_PARAMS,
    graffiti: { ...BLOCK_PRODUCTION_PARAMS.graffiti, restSchema: graffitiHex },
    builderBoostFactor: optional(
      exactUint64,
      "Percentage by which a builder's bid is weighed against the node's own payload: 0 prefers the own, 2^64-1 the builder's; " +
        "by default what --builder-boost-factor says.",
    ),
    feeRecipient: optional(executionAddress, "Whom the block pays, instead of what was prepared.", {
      only: "rest",
    }),
  },
  result: PRODUCED_BLOCK,
  failures: ["unavailable", "unsupported"],
  rest: [get("/eth/v3/validator/blocks/{slot}", { ssz: "answer" })],
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

/** Of the versions before the third, which have the fork alone beside the block. */
function withForkAlone({
  validator: { produceBlockV3, getAggregatedAttestationV2 },
}: Codecs): ResponseCodec<BlockContents | BlindedBeaconBlock, routes.validator.ProduceBlockV3Meta> {
  return { data: produceBlockV3.resp.data, meta: getAggregatedAttestationV2.resp.meta };
}

/** Servers of old took the graffiti first; their lengths tell the two apart. */
function arrangeRevealBeforeGraffiti(params: unknown[]): unknown[] {
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

/** A block on the head, from the pools' contents and with a payload of the node's own, for the proposer to sign. */
export async function produceBlock(chain: BeaconChain, request: BlockProductionRequest): Promise<ProducedFullBlock> {
  const onHead = await requestOnHead(chain, request);
  return chain.producer.produce(onHead);
}

/** The same, with a payload of the node's own or of a builder, whichever is better. */
async function produceBestBlock(
  chain: BeaconChain,
  { builderBoostFactor, ...request }: BlockProductionRequest & PayloadPreference,
): Promise<ProducedBlock> {
  const onHead = await requestOnHead(chain, request);
  return chain.producer.produceBest(onHead, builderBoostFactor);
}

async function requestOnHead(chain: BeaconChain, request: BlockProductionRequest): Promise<BlockRequest> {
  requireSynced(chain);
  if (chain.config.getForkSeq(request.slot) >= ForkSeq.gloas) {
    throw unsupported("Blocks of the gloas fork have another form: use get_v4_validator_blocks_slot.");
  }
  await chain.pendingVerdicts.retry();
  await chain.refreshHead();
  await requireVerifiedHead(chain);
  const { head } = chain;
  const { slot } = request;
  if (slot <= head.slot) {
    throw invalidParams(`A block of slot ${slot} cannot follow the head, which is of slot ${head.slot}.`);
  }
  // A chain that stood still for long must be able to go on, so the current slot is never too far.
  if (slot > Math.max(head.slot + MAX_EPOCHS_AHEAD * SLOTS_PER_EPOCH, chain.clock.currentSlot)) {
    throw invalidParams(
      `Slot ${slot} is more than ${MAX_EPOCHS_AHEAD} epochs past the head, which is of slot ${head.slot}.`,
    );
  }
  const parentRoot = chain.proposerHead.parentFor(slot).root;
  const preState = await chain.states.afterBlock(parentRoot, slot);
  await requireRandaoReveal(chain, preState, request);
  requireUnslashedProposer(preState, slot);
  const isAnonymous = request.skipRandaoVerification === true;
  return blockRequest(chain, preState.epochCtx.getBeaconProposer(slot), { ...request, parentRoot, isAnonymous });
}

/** phase0/beacon-chain.md, process_block_header: no block of a slashed validator is valid. */
function requireUnslashedProposer({ epochCtx, validators }: CachedBeaconStateAllForks, slot: Slot): void {
  const proposer = epochCtx.getBeaconProposer(slot);
  if (validators.getReadonly(proposer).slashed) {
    throw invalidParams(`Slot ${slot} can have no block: its proposer, validator ${proposer}, is slashed.`);
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
