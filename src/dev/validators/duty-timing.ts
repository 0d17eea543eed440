import type { BeaconConfig } from "@lodestar/config";
import type { Slot } from "@lodestar/types";
import type { Clock } from "../../chain/clock/clock.ts";
import { payloadAttestationDueShare, timeInSlot } from "../../chain/clock/slot-timing.ts";

/**
 * When the duties of a slot are performed. `clock`: at their deadlines within the slot, as on a network. `lockstep`:
 * one after the other at the start of the slot.
 */
export type DutyTiming = "clock" | "lockstep";

const SHORTEST_CLOCKED_SLOT_SECONDS = 1;

/**
 * Chooses lockstep for slots shorter than one second of real time, since a third of such a slot is too short to sign
 * in.
 */
export function dutyTimingFor(slotSeconds: number, speed: number): DutyTiming {
  return slotSeconds / speed < SHORTEST_CLOCKED_SLOT_SECONDS ? "lockstep" : "clock";
}

/** Waits for deadlines within a slot. */
export class SlotSchedule {
  readonly #config: BeaconConfig;
  readonly #clock: Clock;
  #latestBlockSlot: Slot = -1;
  readonly #waiting = new Map<Slot, PromiseWithResolvers<void>>();

  constructor(config: BeaconConfig, clock: Clock) {
    this.#config = config;
    this.#clock = clock;
  }

  /** Ends the wait for blocks of this slot and earlier slots. */
  blockArrived(slot: Slot): void {
    this.#latestBlockSlot = Math.max(this.#latestBlockSlot, slot);
    for (const [waitingSlot, { resolve }] of this.#waiting) {
      if (waitingSlot > slot) continue;
      this.#waiting.delete(waitingSlot);
      resolve();
    }
  }

  /** Forgets which blocks have arrived, after the chain was reverted to an earlier slot. */
  clear(): void {
    this.#latestBlockSlot = -1;
  }

  /** phase0/validator.md, Attesting: waits for the slot's block, but no longer than a third of the slot. */
  async untilAttestationDue(slot: Slot, closing: AbortSignal): Promise<void> {
    if (this.#latestBlockSlot >= slot) return;
    const arrival = Promise.withResolvers<void>();
    this.#waiting.set(slot, arrival);
    const arrived = new AbortController();
    const dueMs = this.#config.getAttestationDueMs(this.#config.getForkName(slot));
    try {
      const due = this.#clock.untilTime(this.#timeOf(slot, dueMs), AbortSignal.any([closing, arrived.signal]));
      await Promise.race([arrival.promise, due]);
    } finally {
      this.#waiting.delete(slot);
      arrived.abort();
    }
  }

  /** phase0/validator.md, Broadcast aggregate: waits until two thirds of the slot have passed. */
  async untilAggregateDue(slot: Slot, closing: AbortSignal): Promise<void> {
    await this.#clock.untilTime(this.aggregateDue(slot), closing);
  }

  /** Returns the aggregation deadline in chain seconds. */
  aggregateDue(slot: Slot): number {
    return this.#timeOf(slot, this.#config.getAggregateDueMs(this.#config.getForkName(slot)));
  }

  /** Waits until votes on the slot's payload are due (gloas/validator.md, Payload timeliness attestation). */
  async untilPayloadAttestationDue(slot: Slot, closing: AbortSignal): Promise<void> {
    await this.#clock.untilTime(this.payloadAttestationDue(slot), closing);
  }

  /** Returns the deadline of payload attestations in chain seconds. */
  payloadAttestationDue(slot: Slot): number {
    return timeInSlot(this.#clock, slot, payloadAttestationDueShare(this.#config));
  }

  #timeOf(slot: Slot, dueMs: number): number {
    return this.#clock.slotStartSeconds(slot) + dueMs / 1000;
  }
}
