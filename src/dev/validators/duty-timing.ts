import type { BeaconConfig } from "@lodestar/config";
import type { Slot } from "@lodestar/types";
import type { Clock } from "../../chain/clock/clock.ts";

/**
 * When duties of a slot are done. `clock`: at their deadlines within the slot, as on a network. `lockstep`: one after
 * another at the start of the slot.
 */
export type DutyTiming = "clock" | "lockstep";

const SHORTEST_CLOCKED_SLOT_SECONDS = 1;

/** Chooses lockstep for slots below one second of real time: a third of such a slot is too short to sign in. */
export function dutyTimingFor(slotSeconds: number, speed: number): DutyTiming {
  return slotSeconds / speed < SHORTEST_CLOCKED_SLOT_SECONDS ? "lockstep" : "clock";
}

/** Waits for the deadlines within a slot. */
export class SlotSchedule {
  readonly #config: BeaconConfig;
  readonly #clock: Clock;
  #latestBlockSlot: Slot = -1;
  readonly #waiting = new Map<Slot, PromiseWithResolvers<void>>();

  constructor(config: BeaconConfig, clock: Clock) {
    this.#config = config;
    this.#clock = clock;
  }

  /** Ends the wait for the block of this slot and of earlier slots. */
  blockArrived(slot: Slot): void {
    this.#latestBlockSlot = Math.max(this.#latestBlockSlot, slot);
    for (const [waitingSlot, { resolve }] of this.#waiting) {
      if (waitingSlot > slot) continue;
      this.#waiting.delete(waitingSlot);
      resolve();
    }
  }

  /** Forgets arrived blocks, after the chain was reverted to an earlier slot. */
  clear(): void {
    this.#latestBlockSlot = -1;
  }

  /** phase0/validator.md, Attesting: waits for the block of the slot, until a third of the slot at the latest. */
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

  /** phase0/validator.md, Broadcast aggregate: waits for two thirds of the slot. */
  async untilAggregateDue(slot: Slot, closing: AbortSignal): Promise<void> {
    await this.#clock.untilTime(this.aggregateDue(slot), closing);
  }

  /** Returns the aggregation deadline in chain seconds. */
  aggregateDue(slot: Slot): number {
    return this.#timeOf(slot, this.#config.getAggregateDueMs(this.#config.getForkName(slot)));
  }

  #timeOf(slot: Slot, dueMs: number): number {
    return this.#clock.slotStartSeconds(slot) + dueMs / 1000;
  }
}
