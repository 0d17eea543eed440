interface SlotClock {
  /** Unix seconds. */
  readonly genesisTime: number;
  readonly secondsPerSlot: number;
}

/** Returns the Unix time at which a slot starts. */
export function timeOfSlot(slot: number, { genesisTime, secondsPerSlot }: SlotClock): number {
  return genesisTime + slot * secondsPerSlot;
}

/** Returns the slot that starts at a Unix time, or undefined if there is none. */
export function slotAt(timestamp: number, { genesisTime, secondsPerSlot }: SlotClock): number | undefined {
  const slot = (timestamp - genesisTime) / secondsPerSlot;
  return Number.isInteger(slot) && slot >= 0 ? slot : undefined;
}
