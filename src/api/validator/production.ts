import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { type ForkName, ForkSeq, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  getBlockRootAtSlot,
  getEth1DepositCount,
  getRandaoRevealSignatureSet,
} from "@lodestar/state-transition";
import { type BeaconBlock, type BlockContents, ProducedBlockSource, type RootHex, type Slot } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { BeaconChain } from "../../chain/chain.ts";
import { GRAFFITI_BYTES, padGraffiti } from "../../chain/graffiti.ts";
import type { ProducedBlock } from "../../chain/production/block-producer.ts";
import { invalidParams, notFound, unavailable, unsupported } from "../../failure.ts";
import { requireSynced, requireVerifiedHead } from "../gate.ts";
import { shown } from "./shown-number.ts";

export type ProductionApi = Pick<
  ApplicationMethods<routes.validator.Endpoints>,
  "produceBlockV3" | "produceAttestationData"
> & {
  produceBlockV2(request: BlockProductionRequest): Promise<{ data: BlockContents; meta: ProduceBlockV2Meta }>;
  /** As `produceBlockV3`, but takes the graffiti as bytes. */
  produceBlockV3Of(
    request: BlockProductionRequest,
  ): Promise<{ data: BlockContents; meta: routes.validator.ProduceBlockV3Meta }>;
};

export interface ProduceBlockV2Meta {
  version: ForkName;
  /** In Wei. */
  executionPayloadValue: bigint;
}

/** How far past the head a block may be asked for. */
const MAX_EPOCHS_AHEAD = 2;
const ZERO_ADDRESS = new Uint8Array(20);
/** The compressed point at infinity, which stands for "no reveal" when its verification is skipped. */
const POINT_AT_INFINITY = Uint8Array.from({ length: 96 }, (_, i) => (i === 0 ? 0xc0 : 0));

export interface BlockProductionRequest {
  slot: number;
  randaoReveal: Uint8Array;
  graffiti?: Uint8Array;
  feeRecipient?: Uint8Array;
  skipRandaoVerification?: boolean;
}

export function createProductionApi(chain: BeaconChain): ProductionApi {
  /** Never blinded: no builder is asked for a payload, whatever its bids would be weighed with. */
  const produceBlockV3Of: ProductionApi["produceBlockV3Of"] = async (request) => {
    const produced = await produceBlock(chain, request);
    return {
      data: toContents(chain, produced.block),
      meta: {
        version: produced.fork,
        executionPayloadBlinded: false,
        executionPayloadSource: ProducedBlockSource.engine,
        executionPayloadValue: produced.executionPayloadValue,
        consensusBlockValue: produced.consensusBlockValue,
      },
    };
  };

  return {
    /** Takes the graffiti as bytes: not all graffiti are text. */
    async produceBlockV2(request) {
      const { block, fork, executionPayloadValue } = await produceBlock(chain, request);
      return { data: toContents(chain, block), meta: { version: fork, executionPayloadValue } };
    },

    produceBlockV3Of,

    async produceBlockV3({ slot, randaoReveal, graffiti, feeRecipient, skipRandaoVerification }) {
      return produceBlockV3Of({
        slot,
        randaoReveal,
        graffiti: graffiti === undefined ? undefined : graffitiFromText(graffiti),
        feeRecipient: feeRecipient === undefined ? undefined : fromHex(feeRecipient),
        skipRandaoVerification,
      });
    },

    async produceAttestationData({ slot, committeeIndex }) {
      requireSynced(chain);
      requireVerifiedHead(chain);
      const { clock, blocks, config } = chain;
      if (slot > clock.currentSlot + 1) {
        throw invalidParams(`Slot ${shown(slot)} is too far ahead: the current slot is ${clock.currentSlot}.`);
      }
      const epoch = computeEpochAtSlot(slot);
      const epochStart = computeStartSlotAtEpoch(epoch);
      const blockRoot = await blocks.rootAtOrBefore(slot);
      if (blockRoot === null) throw notFound(`The chain at slot ${slot} is not in this node's history.`);
      const state = await stateInEpoch(chain, blockRoot, epochStart);
      const committees = state.epochCtx.getCommitteeCountPerSlot(epoch);
      if (committeeIndex !== undefined && committeeIndex >= committees) {
        throw invalidParams(
          `Slot ${slot} has ${committees} committees, so the committee index ${shown(committeeIndex)} is too high.`,
        );
      }
      const isPostElectra = config.getForkSeq(slot) >= ForkSeq.electra;
      if (committeeIndex === undefined && !isPostElectra) {
        throw invalidParams("The committee index is required for slots before the electra fork.");
      }
      return {
        data: {
          slot,
          index: isPostElectra ? 0 : (committeeIndex ?? 0),
          beaconBlockRoot: fromHex(blockRoot),
          source: state.currentJustifiedCheckpoint.toValue(),
          target: { epoch, root: state.slot > epochStart ? getBlockRootAtSlot(state, epochStart) : fromHex(blockRoot) },
        },
      };
    },
  };
}

/**
 * A state whose committees and justified checkpoint are those of the epoch: the block's own, or the one at the epoch's
 * start for a block of an earlier epoch.
 */
async function stateInEpoch(
  { states }: BeaconChain,
  blockRoot: RootHex,
  epochStart: Slot,
): Promise<CachedBeaconStateAllForks> {
  const postState = await states.afterBlock(blockRoot);
  return postState.slot >= epochStart ? postState : states.afterBlock(blockRoot, epochStart);
}

/** A block on the head, from the pools' contents, for whoever holds the proposer's key to sign. */
export async function produceBlock(chain: BeaconChain, request: BlockProductionRequest): Promise<ProducedBlock> {
  requireSynced(chain);
  if (chain.config.getForkSeq(request.slot) >= ForkSeq.gloas) {
    throw unsupported("Blocks of the gloas fork have another form: use get_v4_validator_blocks_slot.");
  }
  await chain.refreshHead();
  const { head } = chain;
  const { slot } = request;
  if (slot <= head.slot) {
    throw invalidParams(`A block of slot ${slot} cannot follow the head, which is of slot ${head.slot}.`);
  }
  // A chain that stood still for long must be able to go on, so the current slot is never too far.
  if (slot > Math.max(head.slot + MAX_EPOCHS_AHEAD * SLOTS_PER_EPOCH, chain.clock.currentSlot)) {
    throw invalidParams(
      `Slot ${shown(slot)} is more than ${MAX_EPOCHS_AHEAD} epochs past the head, which is of slot ${head.slot}.`,
    );
  }
  const preState = await chain.states.afterBlock(head.root, slot);
  await requireRandaoReveal(chain, preState, request);
  requireUnslashedProposer(preState, slot);
  requireNoDepositsDue(preState);
  return chain.producer.produce({
    slot,
    parentRoot: head.root,
    randaoReveal: request.randaoReveal,
    graffiti: request.graffiti ?? chain.graffiti.get(),
    feeRecipient:
      request.feeRecipient ??
      chain.preparations.feeRecipient(preState.epochCtx.getBeaconProposer(slot), chain.clock.currentEpoch) ??
      ZERO_ADDRESS,
  });
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

/** A block must hold the deposits that the chain has agreed on (phase0/beacon-chain.md, Operations). */
function requireNoDepositsDue(preState: CachedBeaconStateAllForks): void {
  const due = getEth1DepositCount(preState);
  if (due > 0) {
    throw unavailable(
      `A block has to hold ${due} deposits now, which this node does not know: it follows no eth1 chain.`,
    );
  }
}

function toContents({ config }: BeaconChain, block: BeaconBlock): BlockContents {
  if (config.getForkSeq(block.slot) < ForkSeq.deneb) return { block } as BlockContents;
  return { block, kzgProofs: [], blobs: [] } as BlockContents;
}

function graffitiFromText(text: string): Uint8Array {
  const graffiti = padGraffiti(Buffer.from(text, "utf8"));
  if (!graffiti)
    throw invalidParams(`The graffiti does not fit into a block, which has ${GRAFFITI_BYTES} bytes for it.`);
  return graffiti;
}
