import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { Slot } from "@lodestar/types";
import { SlotTime } from "../../../../src/chain/clock/clock.ts";

/** A clock set by the test. */
export class SetClock {
  readonly genesisTime: number;
  readonly #slotTime: SlotTime;
  #seconds: number;

  constructor(genesisTime: number, secondsPerSlot: number) {
    this.genesisTime = genesisTime;
    this.#slotTime = new SlotTime(genesisTime, secondsPerSlot);
    this.#seconds = genesisTime;
  }

  set(slot: Slot, offsetMs = 0): void {
    this.#seconds = this.#slotTime.startOf(slot) + offsetMs / 1000;
  }

  get currentSlot(): Slot {
    return this.currentSlotWithTolerance(0);
  }

  get currentEpoch(): number {
    return computeEpochAtSlot(this.currentSlot);
  }

  nowSeconds(): number {
    return this.#seconds;
  }

  slotStartSeconds(slot: Slot): number {
    return this.#slotTime.startOf(slot);
  }

  currentSlotWithTolerance(toleranceMs: number): Slot {
    return Math.max(0, this.#slotTime.slotAt(this.#seconds + toleranceMs / 1000));
  }
}
