import type { BeaconConfig } from "@lodestar/config";
import { isForkPostBellatrix } from "@lodestar/params";
import type { CachedBeaconStateAllForks, CachedBeaconStateBellatrix } from "@lodestar/state-transition";
import type { BuilderBid, RootHex, Slot } from "@lodestar/types";
import { toPubkeyHex } from "@lodestar/utils";
import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import { withTimeout } from "../../async/with-timeout.ts";
import type { BlsVerifier } from "../../bls/verifier.ts";
import { type Builder, BuilderError, type OfferedBid } from "../../execution/builder/builder.ts";
import { type BuiltPayload, EngineUnavailableError } from "../../execution/engine.ts";
import { Alarm } from "../../log/alarm.ts";
import type { Logger } from "../../log/logger.ts";
import { type Clock, slotMs } from "../clock/clock.ts";
import { blockHashOf } from "../engine/forkchoice-state.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { type BidExpectation, bidSignatureSet, faultOfBid } from "./bid-verification.ts";
import type { BuilderSettings } from "./builder-settings.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
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
  settings: Pick<BuilderSettings, "boostFactor">;
  logger: Logger;
  timers?: Pick<Timers, "sleep">;
}

interface BidFor {
  slot: Slot;
  parentRoot: RootHex;
  feeRecipient: Uint8Array;
}

/** Boost factor that always prefers the builder. */
const ALWAYS_BUILDER = 2n ** 64n - 1n;

/** Fraction of a slot to wait for the local payload if there is a usable bid. */
const LOCAL_SHARE_OF_SLOT = 1 / 12;

/** Requests bids from the builder and chooses between the bid and the local payload. */
export class BuilderBids {
  readonly #parts: BuilderBidsParts;
  readonly #timers: Pick<Timers, "sleep">;
  readonly #noLocalPayload: Alarm;
  readonly #refusal: Alarm;

  constructor(parts: BuilderBidsParts) {
    this.#parts = parts;
    this.#timers = parts.timers ?? SYSTEM_TIMERS;
    this.#noLocalPayload = new Alarm(parts.logger, {
      raised: "Local payload failed, using the builder's",
      cleared: "Local payloads available again",
    });
    this.#refusal = new Alarm(parts.logger, {
      raised: "Builder declined to bid",
      cleared: "Builder bids again",
    });
  }

  /**
   * Returns the local payload or the builder's bid, whichever is better, unless the engine overrides the builder.
   * Rejects only if both fail, with the error from the local payload.
   */
  async choose<Built extends BuiltPayload | null>(
    building: Promise<Built>,
    preState: CachedBeaconStateAllForks,
    block: BidFor,
    boostFactor = this.#parts.settings.boostFactor,
  ): Promise<Built | BuilderBid> {
    const { logger } = this.#parts;
    // The result is inspected after the builder has responded.
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
    logger.info(isBidBetter ? "Using the builder's payload" : "Using the local payload", {
      slot: block.slot,
      bid: String(bid.value),
      local: String(local.value?.value ?? 0n),
      boostFactor: String(boostFactor),
      isOverridden: isOverridden || undefined,
    });
    return isBidBetter ? bid : local.value;
  }

  /** Limits the wait for the local payload: a hanging engine must not cost the slot if there is a bid. */
  #soon<Built>(building: Promise<Built>, { slot }: BidFor): Promise<Built> {
    const ms = slotMs(this.#parts.clock) * LOCAL_SHARE_OF_SLOT;
    return withTimeout(building, ms, this.#timers, () => {
      const limit = `within ${Math.round(ms)} ms after the builder's bid`;
      return new EngineUnavailableError(`The execution engine returned no payload for slot ${slot} ${limit}.`);
    });
  }

  /** Returns a valid bid, or null. Never rejects. */
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
      this.#logUnusable(block.slot, fault);
    } catch (error) {
      if (error instanceof BuilderError) this.#logNoBid(block.slot, error);
      else logger.error("Failed to validate the builder's bid", { slot: block.slot, error });
    }
    return null;
  }

  #logUnusable(slot: Slot, reason: string): void {
    this.#parts.logger.warn("Invalid builder bid", { slot, reason });
  }

  #logNoBid(slot: Slot, { isRejection, isUnreadable, message: reason }: BuilderError): void {
    if (isRejection) this.#refusal.raise({ slot, reason });
    else if (isUnreadable) this.#logUnusable(slot, reason);
    // An unresponsive builder is already reported as a warning.
    else this.#parts.logger.info("No builder bid: builder unresponsive", { slot, reason });
  }

  /**
   * Returns null if no builder is used for the block, because the merge is not finalized or the proposer is not
   * registered.
   */
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
    return `The bid is not signed by builder ${toPubkeyHex(offered.signed.message.pubkey)}.`;
  }
}

/** Applies the rule for `builder_boost_factor` (Beacon API, produceBlockV3). */
export function prefersBid(localValue: bigint, bidValue: bigint, boostFactor: bigint): boolean {
  return boostFactor === ALWAYS_BUILDER || localValue < boostFactor * (bidValue / 100n);
}
