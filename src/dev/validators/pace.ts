import type { BeaconConfig } from "@lodestar/config";
import type { Slot } from "@lodestar/types";
import type { Clock } from "../../chain/clock/clock.ts";

/**
 * `clock`: propose at the start of a slot, attest and aggregate at their times in it, as on a network.
 * `lockstep`: do everything a slot asks for at once, one thing after the other.
 */
export type Pace = "clock" | "lockstep";

const SHORTEST_CLOCKED_SLOT_SECONDS = 1;

/** Below a second of real time the thirds of a slot are too short to sign in, and waiting for them only loses attestations. */
export function paceFor(slotSeconds: number, speed: number): Pace {
  return slotSeconds / speed < SHORTEST_CLOCKED_SLOT_SECONDS ? "lockstep" : "clock";
}

/** The moments of a slot that `clock` pace waits for. */
export class SlotSchedule {
  readonly #config: BeaconConfig;
  readonly #clock: Clock;
  #latestBlockSlot: Slot = -1;
  readonly #waiting = new Map<Slot, PromiseWithResolvers<void>>();

  constructor(config: BeaconConfig, clock: Clock) {
    this.#config = config;
    this.#clock = clock;
  }

  /** Takes note that a block of this slot, and so whatever there will be of earlier slots, has arrived. */
  blockArrived(slot: Slot): void {
    this.#latestBlockSlot = Math.max(this.#latestBlockSlot, slot);
    for (const [waitingSlot, { resolve }] of this.#waiting) {
      if (waitingSlot > slot) continue;
      this.#waiting.delete(waitingSlot);
      resolve();
    }
  }

  /** Slots come again for which blocks arrived before. */
  clear(): void {
    this.#latestBlockSlot = -1;
  }

  /** phase0/validator.md, Attesting: when the slot's block has arrived, at a third of the slot at the latest. */
  async untilAttestationDue(slot: Slot, closing: AbortSignal): Promise<void> {
    if (this.#latestBlockSlot >= slot) return;
    const arrival = Promise.withResolvers<void>();
    this.#waiting.set(slot, arrival);
    const arrived = new AbortController();
    const dueMs = this.#config.getAttestationDueMs(this.#config.getForkName(slot));
    try {
      const due = this.#clock.untilTime(this.#moment(slot, dueMs), AbortSignal.any([closing, arrived.signal]));
      await Promise.race([arrival.promise, due]);
    } finally {
      this.#waiting.delete(slot);
      arrived.abort();
    }
  }

  /** phase0/validator.md, Broadcast aggregate: at two thirds of the slot. */
  async untilAggregateDue(slot: Slot, closing: AbortSignal): Promise<void> {
    await this.#clock.untilTime(this.aggregateDue(slot), closing);
  }

  /** In chain time. */
  aggregateDue(slot: Slot): number {
    return this.#moment(slot, this.#config.getAggregateDueMs(this.#config.getForkName(slot)));
  }

  #moment(slot: Slot, dueMs: number): number {
    return this.#clock.slotStartSeconds(slot) + dueMs / 1000;
  }
}
