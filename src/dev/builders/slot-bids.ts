import {
  type CachedBeaconStateGloas,
  getExecutionPayloadBidSigningRoot,
  getExecutionPayloadEnvelopeSigningRoot,
} from "@lodestar/state-transition";
import type { BuilderIndex, gloas } from "@lodestar/types";
import { byteArrayEquals } from "@lodestar/utils";
import type { BeaconChain } from "../../chain/chain.ts";
import type { ProducedFullBlock } from "../../chain/production/block-producer.ts";
import type { BlockRequest } from "../../chain/production/block-request.ts";
import { payloadBid, payloadEnvelope } from "../../chain/production/self-build.ts";
import type { BuiltPayload, PayloadBlobs } from "../../execution/engine.ts";
import type { BuilderKeychain } from "./builder-keychain.ts";
import { type BuilderPlans, isDue } from "./builder-plans.ts";

type PlannedBid = ReturnType<BuilderPlans["bidsAt"]>[number];

interface SlotBidsParts {
  chain: BeaconChain;
  keys: BuilderKeychain;
  plans: BuilderPlans;
}

/** A payload that was offered for a block. */
interface Offer {
  bid: gloas.ExecutionPayloadBid;
  built: BuiltPayload;
  secondBid: string | null;
}

/** The payload of a block with a builder's bid. */
export interface BuilderPayload {
  envelope: gloas.ExecutionPayloadEnvelope;
  blobsBundle: PayloadBlobs | undefined;
  /** True if the builder withholds the payload. */
  isWithheld: boolean;
}

/**
 * The builders' part in a slot: they build a payload with the engine, bid for the block and, if a bid was taken, hand out
 * the envelope (gloas/builder.md).
 */
export class SlotBids {
  readonly #parts: SlotBidsParts;
  /** For the latest slot with bids. */
  #offers: Offer[] = [];

  constructor(parts: SlotBidsParts) {
    this.#parts = parts;
  }

  /** Submits the bids that the builders plan for a block. */
  async submit(request: BlockRequest): Promise<void> {
    this.#offers = [];
    for (const plan of this.#parts.plans.bidsAt(request.slot)) await this.#bid(request, plan);
  }

  /**
   * Records the outcome of the slot's bids, and returns the payload if the block has the bid of one of our builders.
   */
  settle({ block, root }: ProducedFullBlock): BuilderPayload | undefined {
    const { plans } = this.#parts;
    const { slot, parentRoot } = block;
    const taken = (block.body as Partial<gloas.BeaconBlockBody>).signedExecutionPayloadBid?.message;
    let payload: BuilderPayload | undefined;
    for (const { bid, built, secondBid } of this.#offers) {
      const { builderIndex, value } = bid;
      const isTaken = builderIndex === taken?.builderIndex && byteArrayEquals(bid.blockHash, taken.blockHash);
      const outcome = isTaken ? "taken" : "outbid";
      plans.update(builderIndex, { lastBid: { slot, value, outcome, reason: null, secondBid } });
      if (!isTaken) continue;
      const envelope = payloadEnvelope({ root, parentRoot }, built, builderIndex);
      const isWithheld = isDue(plans.of(builderIndex).withhold, slot);
      payload = { envelope, blobsBundle: built.blobsBundle, isWithheld };
    }
    this.#offers = [];
    return payload;
  }

  /** Signs the envelope of one of our builders. */
  sign(message: gloas.ExecutionPayloadEnvelope): Uint8Array {
    const { chain } = this.#parts;
    const secretKey = this.#secretKey(chain.headState as CachedBeaconStateGloas, message.builderIndex);
    if (!secretKey) throw new Error(`The key of builder ${message.builderIndex} is unknown.`);
    return secretKey.sign(getExecutionPayloadEnvelopeSigningRoot(chain.config, message)).toBytes();
  }

  async #bid(request: BlockRequest, { builder: builderIndex, value, equivocates }: PlannedBid): Promise<void> {
    const { chain, plans } = this.#parts;
    const { slot, parentRoot, feeRecipient } = request;
    const record = (outcome: "refused" | "unused", reason: string | null, secondBid: string | null = null) =>
      plans.update(builderIndex, { lastBid: { slot, value, outcome, reason, secondBid } });
    const parentState = (await chain.states.afterBlock(parentRoot, slot)) as CachedBeaconStateGloas;
    const secretKey = this.#secretKey(parentState, builderIndex);
    if (!secretKey) return record("refused", `There is no builder ${builderIndex} on this branch.`);
    // The priority fees go to the builder, which pays the proposer by its bid.
    const { executionAddress } = parentState.builders.getReadonly(builderIndex);
    const offered = await chain.producer.buildToOffer({ ...request, feeRecipient: executionAddress });
    const { preState, base, built } = offered;
    const bid = payloadBid(preState, { slot, parentRoot, builderIndex, value, feeRecipient }, built);
    const submit = async (message: gloas.ExecutionPayloadBid) => {
      const signature = secretKey.sign(getExecutionPayloadBidSigningRoot(chain.config, message)).toBytes();
      const signed = { message, signature };
      const fault = await chain.executionBids.submit(signed, { parentRoot, feeRecipient, base });
      if (fault === undefined) chain.pools.seen.payloads.bids.add(message);
      // A second bid of the builder is refused here, but not known to be one elsewhere.
      chain.events.publish("executionBidCreated", { signed });
      return fault;
    };
    const fault = await submit(bid);
    if (fault !== undefined) return record("refused", fault);
    const faultOfSecond = equivocates ? await submit({ ...bid, value: value + 1 }) : undefined;
    const secondBid = faultOfSecond ?? null;
    record("unused", null, secondBid);
    this.#offers.push({ bid, built, secondBid });
  }

  #secretKey({ builders }: CachedBeaconStateGloas, index: BuilderIndex) {
    if (builders === undefined || index >= builders.length) return undefined;
    return this.#parts.keys.secretKey(builders.getReadonly(index).pubkey);
  }
}

export type BidsOfSlot = Pick<SlotBids, "submit" | "settle" | "sign">;
