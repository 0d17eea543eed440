import type { BeaconConfig } from "@lodestar/config";
import { type ForkPostBellatrix, ForkSeq, isForkPostBellatrix, isForkPostGloas } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { type RootHex, type Slot, type SSEPayloadAttributes, ssz, type ValidatorIndex } from "@lodestar/types";
import type { PayloadRequest } from "../../execution/engine.ts";
import type { Logger } from "../../log/logger.ts";
import type { Clock } from "../clock/clock.ts";
import { momentOfSlot, untilMomentOfSlot } from "../clock/moment-of-slot.ts";
import type { ChainEvents } from "../events.ts";
import type { HeadTracker } from "../head-tracker.ts";
import type { StateStore } from "../states/state-store.ts";
import type { SyncStatus } from "../sync-status.ts";
import type { PayloadBuilder } from "./payload-builder.ts";
import { latestPayload, payloadRequest } from "./payload-request.ts";
import type { ProposerHead } from "./proposer-head.ts";
import type { ProposerPreparations } from "./proposer-preparations.ts";

/** When a slot has had no block by then, the next one is likely to follow the block before. */
const SHARE_OF_SLOT_TO_WAIT = 2 / 3;

interface PayloadAnnouncerParts {
  config: BeaconConfig;
  clock: Clock;
  tracker: HeadTracker;
  proposerHead: Pick<ProposerHead, "override">;
  states: StateStore;
  status: SyncStatus;
  preparations: ProposerPreparations;
  payloadBuilder: PayloadBuilder;
  events: ChainEvents;
  logger: Logger;
  /** Asks the engine once more about a head that it has not verified. */
  reviewHead(): void;
}

interface NextPayload {
  request: PayloadRequest;
  proposerIndex: ValidatorIndex;
}

/**
 * Tells what the payload of the next slot's block is to be built with, if its proposer was prepared, to the execution engine
 * and to whoever listens: in good time before the slot, and when the head changes after that. Of the same head and slot it
 * is told once, to the engine as soon as it has verified the head and can be reached.
 */
export class PayloadAnnouncer {
  readonly #parts: PayloadAnnouncerParts;
  #told: { head: RootHex; slot: Slot; isPrepared: boolean } | undefined;
  #stopping = new AbortController();

  constructor(parts: PayloadAnnouncerParts) {
    this.#parts = parts;
  }

  /** Follows the clock and the head from now on; returns the function that ends it. */
  start(): () => void {
    const { clock, events } = this.#parts;
    const ends = [
      clock.onSlot((slot) => (this.#isWanted ? this.#announceInTime(slot) : undefined)),
      events.on("head", () => this.resume()),
      events.on("headVerified", () => this.resume()),
    ];
    return () => {
      this.#stopping.abort();
      for (const end of ends) end();
    };
  }

  /** Tells again what was told: slots and heads of the past come anew. */
  forget(): void {
    this.#told = undefined;
  }

  /** Tells what could not be told when it was time to. */
  resume(): void {
    const { clock } = this.#parts;
    const { currentSlot } = clock;
    const due = momentOfSlot(clock, currentSlot, SHARE_OF_SLOT_TO_WAIT);
    if (clock.nowSeconds() >= due) void this.#announce(currentSlot + 1);
  }

  /** Whether there may be something to tell, and anybody to tell it to. */
  get #isWanted(): boolean {
    const { clock, preparations, payloadBuilder } = this.#parts;
    return (this.#isHeard || payloadBuilder.canPrepare) && preparations.hasAny(clock.currentEpoch);
  }

  get #isHeard(): boolean {
    return this.#parts.events.isHeard("payloadAttributes");
  }

  async #announceInTime(slot: Slot): Promise<void> {
    const { clock } = this.#parts;
    const isTime = await untilMomentOfSlot(clock, slot, SHARE_OF_SLOT_TO_WAIT, this.#stopping.signal);
    if (isTime) await this.#announce(slot + 1);
  }

  /** Never rejects. */
  async #announce(slot: Slot): Promise<void> {
    const { signal: stopping } = this.#stopping;
    const { config, clock, status, payloadBuilder, events, logger } = this.#parts;
    const fork = config.getForkName(slot);
    // From gloas on builders make bids, of which this node knows nothing.
    if (!this.#isWanted || status.isSyncing || !isForkPostBellatrix(fork) || isForkPostGloas(fork)) return;
    const head = this.#expectedParent;
    // Nothing can be proposed on a head that the engine has not verified (sync/optimistic.md).
    const isPrepared = payloadBuilder.canPrepare && !status.isOptimistic;
    const before = this.#told?.head === head && this.#told.slot === slot ? this.#told : undefined;
    if (before && (before.isPrepared || !isPrepared)) return;
    const telling = { head, slot, isPrepared };
    this.#told = telling;
    try {
      const next = await this.#nextPayload(head, slot, fork);
      if (stopping.aborted) return;
      // The engine must not be led back to a head that was left meanwhile, and which is told instead.
      if (next && this.#expectedParent === head) {
        const secondsAhead = Number((clock.slotStartSeconds(slot) - clock.nowSeconds()).toFixed(3));
        logger.debug("The next payload is to be prepared", { slot, head, secondsAhead });
        const data = this.#isHeard && !before ? inStandardForm(next) : null;
        if (data) events.publish("payloadAttributes", { version: fork, data });
        if (isPrepared) await payloadBuilder.prepare(next.request);
        else if (payloadBuilder.canPrepare) this.#parts.reviewHead();
      } else if (this.#told === telling) {
        this.#told = undefined;
      }
    } catch (error) {
      if (this.#told === telling) this.#told = undefined;
      if (!stopping.aborted) {
        logger.warn("What the next payload is to be built with could not be told", { slot, error });
      }
    }
  }

  /** What the next block is expected to build on: the head, or its parent where a late head is to be orphaned. */
  get #expectedParent(): RootHex {
    const { tracker, proposerHead } = this.#parts;
    return (proposerHead.override() ?? tracker.head).root;
  }

  /** Null when nobody was prepared to propose it. */
  async #nextPayload(parentRoot: RootHex, slot: Slot, fork: ForkPostBellatrix): Promise<NextPayload | null> {
    const { config, clock, tracker, states, preparations } = this.#parts;
    const { headState } = tracker;
    // The head state knows the proposers of its epoch, so that it is advanced only for those that were prepared; and from
    // fulu on those of the next one (EIP-7917).
    const knownEpochs = config.getForkSeq(headState.slot) >= ForkSeq.fulu ? 2 : 1;
    const isKnown = computeEpochAtSlot(slot) < computeEpochAtSlot(headState.slot) + knownEpochs;
    const { epochCtx } = isKnown ? headState : await states.afterBlock(parentRoot, slot);
    const proposerIndex = epochCtx.getBeaconProposer(slot);
    const feeRecipient = preparations.feeRecipient(proposerIndex, clock.currentEpoch);
    if (!feeRecipient) return null;
    const preState = await states.afterBlock(parentRoot, slot);
    const parent = latestPayload(preState);
    // The first payload of a chain has no parent that could be named.
    if (!parent) return null;
    return {
      request: payloadRequest(config, fork, preState, { slot, parentRoot, feeRecipient, parent }),
      proposerIndex,
    };
  }
}

/** What a fork does not have yet is left out when it is encoded. */
function inStandardForm({ request, proposerIndex }: NextPayload): SSEPayloadAttributes | null {
  const { slot, parent, parentBeaconBlockRoot, timestamp, prevRandao, feeRecipient, withdrawals } = request;
  if (parent.blockNumber === null) return null;
  return {
    proposerIndex,
    proposalSlot: slot,
    parentBlockNumber: parent.blockNumber,
    parentBlockRoot: parentBeaconBlockRoot,
    parentBlockHash: parent.blockHash,
    payloadAttributes: {
      timestamp,
      prevRandao,
      suggestedFeeRecipient: ssz.ExecutionAddress.toJson(feeRecipient) as string,
      withdrawals,
      parentBeaconBlockRoot,
    },
  };
}
