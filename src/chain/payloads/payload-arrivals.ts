import type { RootHex, Slot } from "@lodestar/types";

interface Arrival {
  slot: Slot;
  isTimely: boolean;
}

/**
 * Remembers which envelopes of the current and previous slot arrived before the payload deadline (gloas/validator.md,
 * Constructing the `PayloadAttestationMessage`).
 */
export class PayloadArrivals {
  #arrivals = new Map<RootHex, Arrival>();

  /** Records the first arrival of an envelope that is valid except for its execution. */
  record(root: RootHex, arrival: Arrival): void {
    if (!this.#arrivals.has(root)) this.#arrivals.set(root, arrival);
  }

  isTimely(root: RootHex): boolean {
    return this.#arrivals.get(root)?.isTimely === true;
  }

  onSlot(slot: Slot): void {
    for (const [root, arrival] of this.#arrivals) if (arrival.slot + 1 < slot) this.#arrivals.delete(root);
  }

  capture(): [RootHex, Arrival][] {
    return [...this.#arrivals];
  }

  restore(arrivals: readonly [RootHex, Arrival][]): void {
    this.#arrivals = new Map(arrivals);
  }
}
