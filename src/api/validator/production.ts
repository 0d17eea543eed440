import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { ForkSeq, SLOTS_PER_EPOCH } from "@lodestar/params";
import { computeEpochAtSlot, computeStartSlotAtEpoch, getRandaoRevealSignatureSet } from "@lodestar/state-transition";
import { type BeaconBlock, type BlockContents, ProducedBlockSource } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { BeaconChain } from "../../chain/chain.ts";
import type { ProducedBlock } from "../../chain/production/block-producer.ts";
import { invalidParams, notFound } from "../../errors.ts";
import { requireSynced, requireVerifiedHead } from "../gate.ts";

export type ProductionApi = Pick<
  ApplicationMethods<routes.validator.Endpoints>,
  "produceBlockV3" | "produceAttestationData"
>;

/** How far past the head a block may be asked for. */
const MAX_EPOCHS_AHEAD = 2;
const GRAFFITI_BYTES = 32;
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
  return {
    async produceBlockV3({ slot, randaoReveal, graffiti, feeRecipient, skipRandaoVerification }) {
      const produced = await produceBlock(chain, {
        slot,
        randaoReveal,
        graffiti: graffiti === undefined ? undefined : graffitiFromText(graffiti),
        feeRecipient: feeRecipient === undefined ? undefined : fromHex(feeRecipient),
        skipRandaoVerification,
      });
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
    },

    async produceAttestationData({ slot, committeeIndex }) {
      requireSynced(chain);
      requireVerifiedHead(chain);
      const { clock, blocks, config } = chain;
      if (slot > clock.currentSlot + 1) {
        throw invalidParams(`Slot ${slot} is too far ahead: the current slot is ${clock.currentSlot}.`);
      }
      const epoch = computeEpochAtSlot(slot);
      const epochStart = computeStartSlotAtEpoch(epoch);
      const [blockRoot, targetRoot] = await Promise.all([
        blocks.rootAtOrBefore(slot),
        blocks.rootAtOrBefore(epochStart),
      ]);
      if (blockRoot === null || targetRoot === null) {
        throw notFound(`The chain at slot ${slot} is not in this node's history.`);
      }
      // The justified checkpoint and the committees are the same in every state of the epoch.
      const state = await chain.states.afterBlock(targetRoot, epochStart);
      const committees = state.epochCtx.getCommitteeCountPerSlot(epoch);
      if (committeeIndex !== undefined && committeeIndex >= committees) {
        throw invalidParams(
          `Slot ${slot} has ${committees} committees, so the committee index ${committeeIndex} is too high.`,
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
          target: { epoch, root: fromHex(targetRoot) },
        },
      };
    },
  };
}

/** A block on the head, from the pools' contents, for whoever holds the proposer's key to sign. */
export async function produceBlock(chain: BeaconChain, request: BlockProductionRequest): Promise<ProducedBlock> {
  requireSynced(chain);
  await chain.refreshHead();
  const { head } = chain;
  const { slot } = request;
  if (slot <= head.slot) {
    throw invalidParams(`A block of slot ${slot} cannot follow the head, which is of slot ${head.slot}.`);
  }
  if (slot > head.slot + MAX_EPOCHS_AHEAD * SLOTS_PER_EPOCH) {
    throw invalidParams(
      `Slot ${slot} is more than ${MAX_EPOCHS_AHEAD} epochs past the head, which is of slot ${head.slot}.`,
    );
  }
  await requireRandaoReveal(chain, request);
  return chain.producer.produce({
    slot,
    parentRoot: head.root,
    randaoReveal: request.randaoReveal,
    graffiti: request.graffiti ?? chain.graffiti.get(),
    feeRecipient: request.feeRecipient ?? ZERO_ADDRESS,
  });
}

async function requireRandaoReveal(chain: BeaconChain, request: BlockProductionRequest): Promise<void> {
  const { slot, randaoReveal, skipRandaoVerification } = request;
  if (skipRandaoVerification) {
    if (Buffer.compare(randaoReveal, POINT_AT_INFINITY) === 0) return;
    throw invalidParams("The randao reveal must be the point at infinity when its verification is skipped.");
  }
  const state = await chain.states.afterBlock(chain.head.root, slot);
  const proposerIndex = state.epochCtx.getBeaconProposer(slot);
  const unsigned = { slot, proposerIndex, body: { randaoReveal } } as BeaconBlock;
  if (!(await chain.validation.bls.verify([getRandaoRevealSignatureSet(chain.config, unsigned)]))) {
    throw invalidParams(
      `The randao reveal is not validator ${proposerIndex}'s signature over epoch ${computeEpochAtSlot(slot)}.`,
    );
  }
}

function toContents({ config }: BeaconChain, block: BeaconBlock): BlockContents {
  if (config.getForkSeq(block.slot) < ForkSeq.deneb) return { block } as BlockContents;
  return { block, kzgProofs: [], blobs: [] } as BlockContents;
}

function graffitiFromText(text: string): Uint8Array {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length > GRAFFITI_BYTES) {
    throw invalidParams(`The graffiti is ${bytes.length} bytes long, and at most ${GRAFFITI_BYTES} fit into a block.`);
  }
  return new Uint8Array(Buffer.concat([bytes], GRAFFITI_BYTES));
}
