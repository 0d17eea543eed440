import type { Slot } from "@lodestar/types";

interface SlotRange<T> {
  readonly fromSlot: Slot;
  /** First slot after the range. */
  readonly untilSlot: Slot;
  readonly value: T;
}

/** Values for ranges of slots. Of ranges that overlap, the latest one takes precedence. */
export class SlotRanges<T> {
  #ranges: readonly SlotRange<T>[] = [];

  get size(): number {
    return this.#ranges.length;
  }

  /** True if there is a value for the slot or a later one. */
  reaches(slot: Slot): boolean {
    return this.#ranges.some(({ untilSlot }) => untilSlot > slot);
  }

  /** Returns the values for a slot, the latest first. */
  at(slot: Slot): T[] {
    const ranges = this.#ranges.filter(({ fromSlot, untilSlot }) => fromSlot <= slot && slot < untilSlot);
    return ranges.map(({ value }) => value).reverse();
  }

  add(range: SlotRange<T>): void {
    this.#ranges = [...this.#ranges, range];
  }

  /** Ends all ranges before the slot. */
  endAt(slot: Slot): void {
    const ended = this.#ranges.map((range) => ({ ...range, untilSlot: Math.min(range.untilSlot, slot) }));
    this.#ranges = ended.filter(({ fromSlot, untilSlot }) => fromSlot < untilSlot);
  }

  /** Drops the ranges that end before the slot. */
  pruneBefore(slot: Slot): void {
    this.#ranges = this.#ranges.filter(({ untilSlot }) => untilSlot > slot);
  }

  clear(): void {
    this.#ranges = [];
  }

  capture(): () => void {
    const ranges = this.#ranges;
    return () => {
      this.#ranges = ranges;
    };
  }
}
