import type { BeaconConfig } from "@lodestar/config";
import { type ForkPostBellatrix, isForkPostBellatrix, isForkPostGloas } from "@lodestar/params";
import { type RootHex, type Slot, type SSEPayloadAttributes, ssz, type ValidatorIndex } from "@lodestar/types";
import type { PayloadRequest } from "../../execution/engine.ts";
import type { Logger } from "../../log/logger.ts";
import { type Clock, ClockStoppedError } from "../clock/clock.ts";
import type { ChainEvents } from "../events.ts";
import type { HeadTracker } from "../head-tracker.ts";
import type { StateStore } from "../states/state-store.ts";
import type { SyncStatus } from "../sync-status.ts";
import { latestPayload, payloadRequest } from "./payload-request.ts";
import type { ProposerPreparations } from "./proposer-preparations.ts";

/** When a slot has had no block by then, the next one is likely to follow the block before. */
const SHARE_OF_SLOT_TO_WAIT = 2 / 3;

interface PayloadAnnouncerParts {
  config: BeaconConfig;
  clock: Clock;
  tracker: HeadTracker;
  states: StateStore;
  status: SyncStatus;
  preparations: ProposerPreparations;
  events: ChainEvents;
  logger: Logger;
}

/**
 * Tells whoever listens what the payload of the next slot's block is to be built with, if its proposer was prepared: when a
 * block becomes the head, and in good time before the slot. Of the same head and slot it is told once.
 */
export class PayloadAnnouncer {
  readonly #parts: PayloadAnnouncerParts;
  #told: { head: RootHex; slot: Slot } | undefined;

  constructor(parts: PayloadAnnouncerParts) {
    this.#parts = parts;
    parts.events.on("head", () => void this.#announce(parts.clock.currentSlot + 1));
  }

  /** Follows the clock from now on; returns the function that ends it. */
  start(): () => void {
    return this.#parts.clock.onSlot((slot) => (this.#isHeard ? this.#announceInTime(slot) : undefined));
  }

  get #isHeard(): boolean {
    return this.#parts.events.isHeard("payloadAttributes");
  }

  async #announceInTime(slot: Slot): Promise<void> {
    const { clock } = this.#parts;
    try {
      await clock.untilTime(clock.slotStartSeconds(slot) + clock.secondsPerSlot * SHARE_OF_SLOT_TO_WAIT);
    } catch (error) {
      if (error instanceof ClockStoppedError) return;
      throw error;
    }
    await this.#announce(slot + 1);
  }

  /** Never rejects. */
  async #announce(slot: Slot): Promise<void> {
    const { config, tracker, status, events, logger } = this.#parts;
    const fork = config.getForkName(slot);
    // From gloas on builders make bids, of which this node knows nothing.
    if (!this.#isHeard || status.isSyncing || !isForkPostBellatrix(fork) || isForkPostGloas(fork)) return;
    const head = tracker.head.root;
    const before = this.#told;
    if (before?.head === head && before.slot === slot) return;
    this.#told = { head, slot };
    try {
      const data = await this.#attributes(head, slot, fork);
      if (data) events.publish("payloadAttributes", { version: fork, data });
      else this.#told = before;
    } catch (error) {
      this.#told = before;
      logger.warn("What the next payload is to be built with could not be told", { slot, error });
    }
  }

  async #attributes(parentRoot: RootHex, slot: Slot, fork: ForkPostBellatrix): Promise<SSEPayloadAttributes | null> {
    const { config, clock, states, preparations } = this.#parts;
    const preState = await states.afterBlock(parentRoot, slot);
    const proposerIndex = preState.epochCtx.getBeaconProposer(slot);
    const feeRecipient = preparations.feeRecipient(proposerIndex, clock.currentEpoch);
    const parent = latestPayload(preState);
    // The first payload of a chain has no parent that could be named.
    if (!feeRecipient || !parent) return null;
    const request = payloadRequest(config, fork, preState, { slot, parentRoot, feeRecipient, parent });
    return inStandardForm(request, proposerIndex);
  }
}

/** What a fork does not have yet is left out when it is encoded. */
function inStandardForm(request: PayloadRequest, proposerIndex: ValidatorIndex): SSEPayloadAttributes | null {
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
