import { type gloas, type RootHex, type Slot, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { BuiltPayload } from "../../execution/engine.ts";
import { Alarm } from "../../log/alarm.ts";
import type { Logger } from "../../log/logger.ts";
import { type BidExpectation, faultOfExecutionBid, verifyBidSignature } from "./bid-validation.ts";

interface ExecutionBidsParts {
  bls: Pick<BlsVerifier, "verify">;
  logger: Logger;
}

type Bid = gloas.SignedExecutionPayloadBid;

/** A valid bid that a builder made to the proposer directly. */
export interface WeightedBid {
  signed: Bid;
  /** Weight against the local payload in percent. */
  boostFactor: bigint;
  /** URL of the builder. */
  url: string;
}

/** How a proposer compares bids with the local payload. */
export interface BidPreferences {
  /** Weight of the bids from gossip in percent. Default: 100. */
  boostFactor?: bigint | undefined;
  /** Requests bids from builders. Must not reject. */
  requestBids?(expectation: BidExpectation): Promise<WeightedBid[]>;
}

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
   * Rejects only if both are missing.
   */
  async choose(
    building: Promise<BuiltPayload>,
    expectation: BidExpectation,
    { boostFactor, requestBids }: BidPreferences = {},
  ): Promise<BuiltPayload | Bid> {
    const { logger } = this.#parts;
    // The result is inspected after the builders have responded.
    building.catch(() => {});
    const best = this.#best(expectation, boostFactor, (await requestBids?.(expectation)) ?? []);
    if (!best) return building;
    const { signed, total, weighted } = best;
    const { slot, builderIndex } = signed.message;
    let local: BuiltPayload;
    try {
      local = await building;
      this.#noLocalPayload.clear({ slot });
    } catch (error) {
      this.#noLocalPayload.raise({ slot, error });
      return signed;
    }
    const isBidBetter = local.shouldOverrideBuilder !== true && weighted > local.value;
    logger.debug(isBidBetter ? "Using a builder's bid" : "Using the local payload", {
      slot,
      builderIndex,
      bid: String(total),
      local: String(local.value),
    });
    return isBidBetter ? signed : local;
  }

  onSlot(slot: Slot): void {
    for (const [key, [bid]] of this.#bids) {
      if (bid === undefined || bid.message.slot < slot) this.#bids.delete(key);
    }
  }

  clear(): void {
    this.#bids.clear();
  }

  /** Returns the best one of the bids from gossip and of those that builders made directly. */
  #best(
    expectation: BidExpectation,
    boostFactor: bigint | undefined,
    direct: readonly WeightedBid[],
  ): Candidate | undefined {
    const { parentRoot, base } = expectation;
    const { slot } = base.operationState;
    const fromGossip = this.#bids.get(keyOf(slot, parentRoot, toRootHex(base.parent.blockHash)));
    // By value, so the first valid one is the best.
    const gossiped = fromGossip?.find(({ message }) => faultOfExecutionBid(message, expectation) === undefined);
    const candidates = direct.map((bid) => candidateOf(bid.signed, bid.boostFactor));
    if (gossiped) candidates.push(candidateOf(gossiped, boostFactor));
    const [best] = candidates
      .filter(({ total }) => total > 0n)
      .sort((a, b) => Number(b.weighted - a.weighted) || Number(b.total - a.total));
    return best;
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

interface Candidate {
  signed: Bid;
  /** What the proposer is paid, in Wei. */
  total: bigint;
  /** The same with the boost factor. */
  weighted: bigint;
}

/** Applies the rule for `builder_boost_factor` (Beacon API, produceBlockV4). */
function candidateOf(signed: Bid, boostFactor: bigint | undefined): Candidate {
  const { value, executionPayment } = signed.message;
  const total = (BigInt(value) + executionPayment) * WEI_PER_GWEI;
  return { signed, total, weighted: boostFactor === undefined ? total : boostFactor * (total / 100n) };
}

const keyOf = (slot: Slot, parentRoot: RootHex, parentHash: RootHex): string => `${slot}/${parentRoot}/${parentHash}`;
