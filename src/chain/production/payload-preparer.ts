import type { BeaconConfig } from "@lodestar/config";
import { type ForkName, type ForkPostBellatrix, ForkSeq, isForkPostBellatrix, isForkPostGloas } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { type Slot, type SSEPayloadAttributes, ssz, type ValidatorIndex } from "@lodestar/types";
import type { PayloadRequest } from "../../execution/engine.ts";
import type { Logger } from "../../log/logger.ts";
import type { Clock } from "../clock/clock.ts";
import { timeInSlot, untilTimeInSlot } from "../clock/slot-timing.ts";
import type { ChainEvents } from "../events.ts";
import type { ForkChoiceNode } from "../fork-choice/types.ts";
import type { HeadTracker } from "../head/head-tracker.ts";
import type { SyncStatus } from "../head/sync-status.ts";
import type { ParentPayloads } from "../payloads/parent-payloads.ts";
import type { StateStore } from "../states/state-store.ts";
import type { PayloadBuilder } from "./payload-builder.ts";
import { latestPayload, payloadRequest } from "./payload-request.ts";
import type { ProposerHead } from "./proposer-head.ts";
import { type PreferencesSource, preferencesFor } from "./proposer-preferences.ts";
import type { ProposerPreparations } from "./proposer-preparations.ts";

/** If a slot has no block by then, it is probably empty. */
const SHARE_OF_SLOT_TO_WAIT = 2 / 3;

interface PayloadPreparerParts extends PreferencesSource {
  config: BeaconConfig;
  clock: Clock;
  tracker: HeadTracker;
  proposerHead: Pick<ProposerHead, "override">;
  states: StateStore;
  parentPayloads: ParentPayloads;
  status: SyncStatus;
  preparations: ProposerPreparations;
  payloadBuilder: PayloadBuilder;
  events: ChainEvents;
  logger: Logger;
  /** Requests a new verdict on an unverified head. */
  reviewHead(): void;
}

interface NextPayload {
  request: PayloadRequest;
  proposerIndex: ValidatorIndex;
}

/**
 * If the proposer of the next slot is prepared, sends that slot's payload attributes to the execution engine and
 * publishes them. Does so ahead of the slot and again when the head changes, but only once per head and slot. Sends the
 * attributes later if the engine is unreachable or has not verified the head.
 */
export class PayloadPreparer {
  readonly #parts: PayloadPreparerParts;
  #announced: { head: ForkChoiceNode; slot: Slot; isPrepared: boolean } | undefined;
  #stopping = new AbortController();

  constructor(parts: PayloadPreparerParts) {
    this.#parts = parts;
  }

  /** Starts following the clock and the head. Returns a stop function. */
  start(): () => void {
    const { clock, events } = this.#parts;
    const ends = [
      clock.onSlot((slot) => (this.#isNeeded ? this.#announceInTime(slot) : undefined)),
      events.on("head", () => this.resume()),
      events.on("headPayload", () => this.resume()),
      events.on("headVerified", () => this.resume()),
    ];
    return () => {
      this.#stopping.abort();
      for (const end of ends) end();
    };
  }

  /** Resets after a revert, since slots and heads can recur. */
  forget(): void {
    this.#announced = undefined;
  }

  /** Sends attributes that could not be sent before. */
  resume(): void {
    const { clock } = this.#parts;
    const { currentSlot } = clock;
    const dueTime = timeInSlot(clock, currentSlot, SHARE_OF_SLOT_TO_WAIT);
    if (clock.nowSeconds() >= dueTime) void this.#announce(currentSlot + 1);
  }

  /** True if there may be a prepared proposer and a recipient for the attributes. */
  get #isNeeded(): boolean {
    const { clock, preparations, payloadBuilder } = this.#parts;
    return (this.#hasListeners || payloadBuilder.canPrepare) && preparations.hasAny(clock.currentEpoch);
  }

  get #hasListeners(): boolean {
    return this.#parts.events.hasListeners("payloadAttributes");
  }

  async #announceInTime(slot: Slot): Promise<void> {
    const { clock } = this.#parts;
    const isTime = await untilTimeInSlot(clock, slot, SHARE_OF_SLOT_TO_WAIT, this.#stopping.signal);
    if (isTime) await this.#announce(slot + 1);
  }

  /** Never rejects. */
  async #announce(slot: Slot): Promise<void> {
    const { signal: stopping } = this.#stopping;
    const { config, clock, status, payloadBuilder, events, logger } = this.#parts;
    const fork = config.getForkName(slot);
    if (!this.#isNeeded || status.isSyncing || !isForkPostBellatrix(fork)) return;
    const head = this.#expectedParent;
    // No blocks may be proposed on an optimistic head (sync/optimistic.md).
    const isPrepared = payloadBuilder.canPrepare && !status.isOptimistic;
    const announced = this.#announced;
    const previous = announced?.slot === slot && sameNode(announced.head, head) ? announced : undefined;
    if (previous && (previous.isPrepared || !isPrepared)) return;
    const announcement = { head, slot, isPrepared };
    this.#announced = announcement;
    try {
      const next = await this.#nextPayload(head, slot, fork);
      if (stopping.aborted) return;
      // The engine must not be moved back to an old head.
      if (next && sameNode(this.#expectedParent, head)) {
        const secondsAhead = Number((clock.slotStartSeconds(slot) - clock.nowSeconds()).toFixed(3));
        logger.debug("Preparing the next payload", { slot, head: head.root, secondsAhead });
        const data = this.#hasListeners && !previous ? inStandardForm(next, fork) : null;
        if (data) events.publish("payloadAttributes", { version: fork, data });
        if (isPrepared) await payloadBuilder.prepare(next.request);
        else if (payloadBuilder.canPrepare) this.#parts.reviewHead();
      } else if (this.#announced === announcement) {
        this.#announced = undefined;
      }
    } catch (error) {
      if (this.#announced === announcement) this.#announced = undefined;
      if (!stopping.aborted) {
        logger.warn("Failed to prepare the next payload", { slot, error });
      }
    }
  }

  /** Expected parent of the next block: the head, or its parent if a late head is to be reorged. */
  get #expectedParent(): ForkChoiceNode {
    const { tracker, proposerHead } = this.#parts;
    return proposerHead.override() ?? tracker.headNode;
  }

  /** Returns null if the proposer is not prepared. */
  async #nextPayload(head: ForkChoiceNode, slot: Slot, fork: ForkPostBellatrix): Promise<NextPayload | null> {
    const { config, clock, tracker, states, preparations, parentPayloads } = this.#parts;
    const { headState } = tracker;
    const { root: parentRoot } = head;
    // The head state knows the proposers of its own epoch and, since Fulu, also those of the next epoch (EIP-7917).
    // This avoids advancing the state for unprepared proposers.
    const knownEpochs = config.getForkSeq(headState.slot) >= ForkSeq.fulu ? 2 : 1;
    const isKnown = computeEpochAtSlot(slot) < computeEpochAtSlot(headState.slot) + knownEpochs;
    const { epochCtx } = isKnown ? headState : await states.afterBlock(parentRoot, slot);
    const proposerIndex = epochCtx.getBeaconProposer(slot);
    const preparedRecipient = preparations.feeRecipient(proposerIndex, clock.currentEpoch);
    if (!preparedRecipient) return null;
    const preferences = preferencesFor(this.#parts, { slot, parentRoot });
    const feeRecipient = preferences?.feeRecipient ?? preparedRecipient;
    const preState = await states.afterBlock(parentRoot, slot);
    const base = isForkPostGloas(fork)
      ? await parentPayloads.baseFor(preState, head)
      : { parent: latestPayload(preState) };
    const { parent } = base;
    // The merge transition payload has no known parent.
    if (!parent) return null;
    const targetGasLimit = "gasLimit" in base ? Number(preferences?.targetGasLimit ?? base.gasLimit) : undefined;
    const proposed = { ...base, slot, parentRoot, feeRecipient, parent, targetGasLimit };
    return { request: payloadRequest(config, fork, preState, proposed), proposerIndex };
  }
}

const sameNode = (a: ForkChoiceNode, b: ForkChoiceNode): boolean =>
  a.root === b.root && a.payloadStatus === b.payloadStatus;

/** Converts the attributes to the event format of the Beacon API. The encoder drops fields that the fork lacks. */
function inStandardForm({ request, proposerIndex }: NextPayload, fork: ForkName): SSEPayloadAttributes | null {
  const { slot, parent, parentBeaconBlockRoot, timestamp, prevRandao, feeRecipient, withdrawals } = request;
  if (parent.blockNumber === null && !isForkPostGloas(fork)) return null;
  return {
    proposerIndex,
    proposalSlot: slot,
    parentBlockNumber: parent.blockNumber ?? 0,
    parentBlockRoot: parentBeaconBlockRoot,
    parentBlockHash: parent.blockHash,
    payloadAttributes: {
      timestamp,
      prevRandao,
      suggestedFeeRecipient: ssz.ExecutionAddress.toJson(feeRecipient) as string,
      withdrawals,
      parentBeaconBlockRoot,
      slotNumber: slot,
      targetGasLimit: BigInt(request.targetGasLimit ?? 0),
    },
  };
}
