import type { RootHex } from "@lodestar/types";
import type { BlockArrival, ForkChoiceBlock } from "../types.ts";

/** `timely` is unknown for blocks whose arrival was lost in a crash. */
type KnownArrival = Partial<BlockArrival>;

interface RecordedArrival extends KnownArrival {
  readonly slot: number;
}

/** Arrivals of the blocks of the current and previous slot (block_timeliness). */
export class BlockArrivals {
  #arrivals = new Map<RootHex, RecordedArrival>();

  record({ root, slot }: Pick<ForkChoiceBlock, "root" | "slot">, arrival: KnownArrival, currentSlot: number): void {
    if (slot + 1 >= currentSlot) this.#arrivals.set(root, { ...arrival, slot });
  }

  onTick(currentSlot: number): void {
    for (const [root, { slot }] of this.#arrivals) if (slot + 1 < currentSlot) this.#arrivals.delete(root);
  }

  get(root: RootHex): KnownArrival | undefined {
    return this.#arrivals.get(root);
  }

  isLate(root: RootHex): boolean {
    return this.#arrivals.get(root)?.timely === false;
  }

  isPtcTimely(root: RootHex): boolean {
    const arrival = this.#arrivals.get(root);
    return (arrival?.ptcTimely ?? arrival?.timely) === true;
  }

  /** Returns the committees of the block's slot; none if they are unknown. */
  committeesOf(root: RootHex): Iterable<ArrayLike<number>> {
    return this.#arrivals.get(root)?.committees?.() ?? [];
  }

  capture(): [RootHex, RecordedArrival][] {
    return [...this.#arrivals];
  }

  restore(arrivals: readonly [RootHex, RecordedArrival][]): void {
    this.#arrivals = new Map(arrivals);
  }
}
