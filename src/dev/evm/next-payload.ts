import type { ForkPostBellatrix } from "@lodestar/params";
import type { RootHex, Slot } from "@lodestar/types";
import type { BeaconChain } from "../../chain/chain.ts";
import { executionHashOf } from "../../chain/engine/forkchoice-state.ts";
import type { PayloadStatus } from "../../chain/fork-choice/types.ts";
import { hasEnvelope } from "../../chain/payloads/new-payload.ts";
import { payloadRequest } from "../../chain/production/payload-request.ts";
import type { BlockAttributes } from "../../evm/execution/block-executor.ts";

/** Attributes of the next payload, used to build the pending block. */
export class NextPayload {
  readonly #chain: BeaconChain;
  #cached: { root: RootHex; slot: Slot; payloadStatus: PayloadStatus; attributes: BlockAttributes } | undefined;

  constructor(chain: BeaconChain) {
    this.#chain = chain;
  }

  /** Start of the next slot in Unix seconds. */
  get timestamp(): number {
    return this.#chain.clock.slotStartSeconds(this.#slot);
  }

  get #slot(): Slot {
    const { clock, head } = this.#chain;
    return Math.max(clock.currentSlot, head.slot) + 1;
  }

  /** Returns the attributes of the payload to build on a block, or null if the block is not the head. */
  async next(headBlockHash: RootHex): Promise<BlockAttributes | null> {
    const { config, headNode, forkChoice, states, preparations, clock, parentPayloads } = this.#chain;
    if (executionHashOf(forkChoice, headNode) !== headBlockHash) return null;
    const slot = this.#slot;
    const { root: parentRoot, payloadStatus } = headNode;
    const preState = await states.afterBlock(parentRoot, slot);
    const proposer = preState.epochCtx.getBeaconProposer(slot);
    const feeRecipient = preparations.feeRecipientOrDefault(proposer, clock.currentEpoch, { warns: false });
    const cached = this.#cached;
    if (cached?.root !== parentRoot || cached.slot !== slot || cached.payloadStatus !== payloadStatus) {
      const fork = config.getForkName(slot) as ForkPostBellatrix;
      const parent = { blockHash: Buffer.from(headBlockHash.slice(2), "hex"), blockNumber: null };
      const base = hasEnvelope(config, slot) ? await parentPayloads.baseFor(preState, headNode) : undefined;
      const proposed = { slot, parentRoot, feeRecipient, parent, withdrawals: base?.withdrawals };
      const request = payloadRequest(config, fork, preState, proposed);
      const { timestamp, prevRandao, withdrawals, parentBeaconBlockRoot } = request;
      const attributes = { timestamp, prevRandao, feeRecipient, withdrawals, parentBeaconBlockRoot, slotNumber: slot };
      this.#cached = { root: parentRoot, slot, payloadStatus, attributes };
      return attributes;
    }
    return { ...cached.attributes, feeRecipient };
  }
}
