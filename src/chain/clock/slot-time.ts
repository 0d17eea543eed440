import type { Slot } from "@lodestar/types";

/** How slots lie in time: `SECONDS_PER_SLOT` from `genesis_time` on (consensus specification, fork-choice.md). */
export class SlotTime {
  readonly genesisTime: number;
  readonly secondsPerSlot: number;

  constructor(genesisTime: number, secondsPerSlot: number) {
    this.genesisTime = genesisTime;
    this.secondsPerSlot = secondsPerSlot;
  }

  startOf(slot: Slot): number {
    return this.genesisTime + slot * this.secondsPerSlot;
  }

  /** The slot of a moment; negative before genesis. */
  slotAt(seconds: number): number {
    const slot = Math.floor((seconds - this.genesisTime) / this.secondsPerSlot);
    // With a fractional slot length the division may land one beside what startOf says; startOf decides.
    if (this.startOf(slot + 1) <= seconds) return slot + 1;
    if (this.startOf(slot) > seconds) return slot - 1;
    return slot;
  }
}
