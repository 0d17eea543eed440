import type { BeaconConfig } from "@lodestar/config";
import { isForkPostBellatrix } from "@lodestar/params";
import type { CachedBeaconStateAllForks, CachedBeaconStateBellatrix } from "@lodestar/state-transition";
import type { BuilderBid, RootHex, Slot } from "@lodestar/types";
import { toPubkeyHex } from "@lodestar/utils";
import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import type { BlsVerifier } from "../../bls/verifier.ts";
import { type Builder, BuilderError, type OfferedBid } from "../../execution/builder/builder.ts";
import { type BuiltPayload, EngineUnavailableError } from "../../execution/engine.ts";
import { Alarm } from "../../log/alarm.ts";
import type { Logger } from "../../log/logger.ts";
import { type Clock, slotMs } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { blockHashOf } from "../forkchoice-state.ts";
import { type BidExpectation, bidSignatureSet, faultOfBid } from "./bid-verification.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import { inTime } from "./in-time.ts";
import { latestPayload, payloadRequest } from "./payload-request.ts";
import type { ProposerPreparations } from "./proposer-preparations.ts";

interface BuilderBidsParts {
  config: BeaconConfig;
  clock: Clock;
  forkChoice: Pick<ForkChoice, "finalized" | "get">;
  bls: Pick<BlsVerifier, "verify">;
  builder: Builder;
  breaker: Pick<CircuitBreaker, "isOpen">;
  preparations: ProposerPreparations;
  /** Where a request does not say it, in percent: with which a bid's value is weighed against that of the local payload. */
  boostFactor: bigint;
  logger: Logger;
  timers?: Pick<Timers, "sleep">;
}

interface BidFor {
  slot: Slot;
  parentRoot: RootHex;
  feeRecipient: Uint8Array;
}

/** The boost factor that stands for "the builder's payload whenever there is one". */
const ALWAYS_BUILDER = 2n ** 64n - 1n;

/** For how much of a slot the local payload is still waited for when there is a bid that can be used. */
const LOCAL_SHARE_OF_SLOT = 1 / 12;

/** Asks the builder what it bids for a block, and decides between that and the payload that the node builds itself. */
export class BuilderBids {
  readonly #parts: BuilderBidsParts;
  readonly #timers: Pick<Timers, "sleep">;
  readonly #noLocalPayload: Alarm;
  readonly #refusal: Alarm;

  constructor(parts: BuilderBidsParts) {
    this.#parts = parts;
    this.#timers = parts.timers ?? SYSTEM_TIMERS;
    this.#noLocalPayload = new Alarm(parts.logger, {
      raised: "No payload could be built, so the builder's is taken",
      cleared: "Payloads are built again beside the builder's",
    });
    this.#refusal = new Alarm(parts.logger, {
      raised: "There is no bid of the builder",
      cleared: "The builder no longer refuses to bid",
    });
  }

  /** The better of the local payload and the builder's bid, unless the engine insists on the former. Rejects only when there is neither, as the local one did. */
  async choose<Built extends BuiltPayload | null>(
    building: Promise<Built>,
    preState: CachedBeaconStateAllForks,
    block: BidFor,
    boostFactor = this.#parts.boostFactor,
  ): Promise<Built | BuilderBid> {
    const { logger } = this.#parts;
    // Whether it fails is looked at when the builder has answered.
    building.catch(() => {});
    const bid = await this.#goodBid(preState, block);
    if (bid === null) return building;
    const [local] = await Promise.allSettled([this.#soon(building, block)]);
    if (local.status === "rejected") {
      this.#noLocalPayload.raise({ slot: block.slot, error: local.reason });
      return bid;
    }
    this.#noLocalPayload.clear({ slot: block.slot });
    const isOverridden = local.value?.shouldOverrideBuilder === true;
    const isBidBetter =
      !isOverridden && (local.value === null || prefersBid(local.value.value, bid.value, boostFactor));
    logger.info(isBidBetter ? "The builder's payload is taken" : "The builder's payload is not taken", {
      slot: block.slot,
      bid: String(bid.value),
      local: String(local.value?.value ?? 0n),
      boostFactor: String(boostFactor),
      isOverridden: isOverridden || undefined,
    });
    return isBidBetter ? bid : local.value;
  }

  /** An engine that hangs must not cost the slot for which there is a bid. */
  #soon<Built>(building: Promise<Built>, { slot }: BidFor): Promise<Built> {
    const ms = slotMs(this.#parts.clock) * LOCAL_SHARE_OF_SLOT;
    return inTime(this.#timers, ms, building, () => {
      const limit = `within ${Math.round(ms)} ms after the builder's bid`;
      return new EngineUnavailableError(`The execution engine gave no payload for slot ${slot} ${limit}.`);
    });
  }

  /** Null when there is none for that block, or none that can be used. Never rejects. */
  async #goodBid(preState: CachedBeaconStateAllForks, block: BidFor): Promise<BuilderBid | null> {
    const { breaker, builder, logger } = this.#parts;
    const proposal = this.#proposal(preState, block);
    if (proposal === null || breaker.isOpen(block.parentRoot, block.slot)) return null;
    const { expectation, parentHash, proposerPubkey } = proposal;
    try {
      const offered = await builder.getBid({ slot: block.slot, parentHash, proposerPubkey });
      this.#refusal.clear({ slot: block.slot });
      if (offered === null) return null;
      const fault = faultOfBid(this.#parts.config, offered, expectation) ?? (await this.#faultOfSignature(offered));
      if (fault === undefined) return offered.signed.message;
      this.#tellUnusable(block.slot, fault);
    } catch (error) {
      if (error instanceof BuilderError) this.#tellNoBid(block.slot, error);
      else logger.error("The builder's bid could not be judged", { slot: block.slot, error });
    }
    return null;
  }

  #tellUnusable(slot: Slot, reason: string): void {
    this.#parts.logger.warn("The builder's bid cannot be used", { slot, reason });
  }

  #tellNoBid(slot: Slot, { isRefusal, isUnreadable, message: reason }: BuilderError): void {
    if (isRefusal) this.#refusal.raise({ slot, reason });
    else if (isUnreadable) this.#tellUnusable(slot, reason);
    // Of a builder that does not answer the log has a warning already.
    else this.#parts.logger.info("There is no bid of the builder, which does not answer", { slot, reason });
  }

  /** Null for a block that builders have nothing to do with: before the merge is final, or of a proposer that is not registered. */
  #proposal(preState: CachedBeaconStateAllForks, block: BidFor) {
    const { config, clock, forkChoice, preparations } = this.#parts;
    const fork = config.getForkName(block.slot);
    if (!isForkPostBellatrix(fork) || blockHashOf(forkChoice.get(forkChoice.finalized.root)) === null) return null;
    const proposer = preState.epochCtx.getBeaconProposer(block.slot);
    const proposerPubkey = preState.validators.getReadonly(proposer).pubkey;
    const registration = preparations.registration(toPubkeyHex(proposerPubkey), clock.currentEpoch);
    if (registration === undefined) return null;
    const parent = latestPayload(preState);
    if (parent === null) return null;
    const expectation: BidExpectation = {
      request: payloadRequest(config, fork, preState, { ...block, parent }),
      parentGasLimit: (preState as CachedBeaconStateBellatrix).latestExecutionPayloadHeader.gasLimit,
      targetGasLimit: registration.message.gasLimit,
    };
    return { expectation, proposerPubkey, parentHash: parent.blockHash };
  }

  async #faultOfSignature(offered: OfferedBid): Promise<string | undefined> {
    const { config, bls } = this.#parts;
    const set = bidSignatureSet(config, offered);
    if (set !== null && (await bls.verify([set]))) return undefined;
    return `The bid is not signed by the builder ${toPubkeyHex(offered.signed.message.pubkey)} that it names.`;
  }
}

/** The rule of the standard for `builder_boost_factor` (produceBlockV3). */
export function prefersBid(localValue: bigint, bidValue: bigint, boostFactor: bigint): boolean {
  return boostFactor === ALWAYS_BUILDER || localValue < boostFactor * (bidValue / 100n);
}
