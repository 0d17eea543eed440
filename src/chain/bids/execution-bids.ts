import { type gloas, type RootHex, type Slot, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { BuiltPayload } from "../../execution/engine.ts";
import { Alarm } from "../../log/alarm.ts";
import type { Logger } from "../../log/logger.ts";
import { prefersBid } from "../production/builder-bids.ts";
import { type BidExpectation, faultOfExecutionBid, verifyBidSignature } from "./bid-validation.ts";

interface ExecutionBidsParts {
  bls: Pick<BlsVerifier, "verify">;
  logger: Logger;
}

type Bid = gloas.SignedExecutionPayloadBid;

/** Number of parents with bids in a slot, and of bids per parent: one per builder, the first one. */
const MAX_PARENTS = 16;
const MAX_BIDS_PER_PARENT = 64;
const WEI_PER_GWEI = 10n ** 9n;

/** Signed bids of builders since gloas, of which the proposer takes the best one. */
export class ExecutionBids {
  readonly #parts: ExecutionBidsParts;
  /** By slot, parent block root and parent block hash; by value, the highest first. */
  readonly #bids = new Map<string, Bid[]>();
  readonly #noLocalPayload: Alarm;

  constructor(parts: ExecutionBidsParts) {
    this.#parts = parts;
    this.#noLocalPayload = new Alarm(parts.logger, {
      raised: "Local payload failed, using the builder's",
      cleared: "Local payloads available again",
    });
  }

  /**
   * Adds a bid for a block, unless it is invalid or not the builder's first one for the slot and parent
   * (gloas/p2p-interface.md, execution_payload_bid). Returns why it is not added, as a sentence.
   */
  async submit(signed: Bid, expectation: BidExpectation): Promise<string | undefined> {
    const { bls } = this.#parts;
    const fault = this.#faultOfSecond(signed.message) ?? faultOfExecutionBid(signed.message, expectation);
    if (fault !== undefined) return fault;
    if (!(await verifyBidSignature(bls, expectation.base.operationState, signed))) {
      return `The bid is not signed by builder ${signed.message.builderIndex}.`;
    }
    return this.add(signed);
  }

  /**
   * Returns the local payload or the best bid, if that pays the proposer more. A bid with a value of 0 is not used.
   * Rejects only if both are missing. `boostFactor` is the weight of bids in percent.
   */
  async choose(
    building: Promise<BuiltPayload>,
    expectation: BidExpectation,
    boostFactor?: bigint,
  ): Promise<BuiltPayload | Bid> {
    const { logger } = this.#parts;
    const best = this.#best(expectation);
    if (!best) return building;
    const { slot, builderIndex, value } = best.message;
    let local: BuiltPayload;
    try {
      local = await building;
      this.#noLocalPayload.clear({ slot });
    } catch (error) {
      this.#noLocalPayload.raise({ slot, error });
      return best;
    }
    const bidValue = BigInt(value) * WEI_PER_GWEI;
    const isMore = boostFactor === undefined ? bidValue > local.value : prefersBid(local.value, bidValue, boostFactor);
    const isBidBetter = local.shouldOverrideBuilder !== true && isMore;
    logger.debug(isBidBetter ? "Using a builder's bid" : "Using the local payload", {
      slot,
      builderIndex,
      bid: value,
      local: String(local.value),
    });
    return isBidBetter ? best : local;
  }

  onSlot(slot: Slot): void {
    for (const [key, [bid]] of this.#bids) {
      if (bid === undefined || bid.message.slot < slot) this.#bids.delete(key);
    }
  }

  clear(): void {
    this.#bids.clear();
  }

  #best(expectation: BidExpectation): Bid | undefined {
    const { parentRoot, base } = expectation;
    const { slot } = base.operationState;
    const bids = this.#bids.get(keyOf(slot, parentRoot, toRootHex(base.parent.blockHash)));
    return bids?.find(({ message }) => message.value > 0 && faultOfExecutionBid(message, expectation) === undefined);
  }

  #bidsLike({ slot, parentBlockRoot, parentBlockHash }: Bid["message"]): { key: string; bids: readonly Bid[] } {
    const key = keyOf(slot, toRootHex(parentBlockRoot), toRootHex(parentBlockHash));
    return { key, bids: this.#bids.get(key) ?? [] };
  }

  #faultOfSecond(bid: Bid["message"]): string | undefined {
    const first = this.#bidsLike(bid).bids.find(({ message }) => message.builderIndex === bid.builderIndex);
    if (!first || ssz.gloas.ExecutionPayloadBid.equals(first.message, bid)) return undefined;
    return (
      `Builder ${bid.builderIndex} has already made another bid for slot ${bid.slot}, of ${first.message.value} Gwei. ` +
      "Only its first one counts."
    );
  }

  /** Adds a valid bid. Returns why it is not added, as a sentence: another bid of the builder may have been added first. */
  add(signed: Bid): string | undefined {
    const fault = this.#faultOfSecond(signed.message);
    if (fault !== undefined) return fault;
    const { key, bids } = this.#bidsLike(signed.message);
    const others = bids.filter(({ message }) => message.builderIndex !== signed.message.builderIndex);
    const sorted = [...others, signed].sort((a, b) => b.message.value - a.message.value);
    this.#bids.set(key, sorted.slice(0, MAX_BIDS_PER_PARENT));
    for (const oldest of this.#bids.keys()) {
      if (this.#bids.size <= MAX_PARENTS) break;
      this.#bids.delete(oldest);
    }
    return undefined;
  }
}

const keyOf = (slot: Slot, parentRoot: RootHex, parentHash: RootHex): string => `${slot}/${parentRoot}/${parentHash}`;
