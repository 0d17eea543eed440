import type { Slot } from "@lodestar/types";
import { copyMap } from "../../collections/copy-map.ts";

/** Values of a gossip topic by slot and key, dropped once their slot is too old. */
export class SeenBySlot<Value> {
  #slots = new Map<Slot, Map<string, Value>>();

  capture(): Map<Slot, Map<string, Value>> {
    return copyMap(this.#slots, (byKey) => new Map(byKey));
  }

  /** Replaces the contents with the result of `capture`. */
  restore(slots: Map<Slot, Map<string, Value>>): void {
    this.#slots = slots;
  }

  get(slot: Slot, key: string): Value | undefined {
    return this.#slots.get(slot)?.get(key);
  }

  has(slot: Slot, key: string): boolean {
    return this.#slots.get(slot)?.has(key) ?? false;
  }

  set(slot: Slot, key: string, value: Value): void {
    const byKey = this.#slots.get(slot) ?? new Map<string, Value>();
    this.#slots.set(slot, byKey.set(key, value));
  }

  /** Iterates the values of a slot in the order in which they were added. */
  *valuesAt(slot: Slot): Generator<Value> {
    yield* this.#slots.get(slot)?.values() ?? [];
  }

  /** Drops the slots before this one. */
  pruneBefore(lowestSlot: Slot): void {
    for (const slot of this.#slots.keys()) if (slot < lowestSlot) this.#slots.delete(slot);
  }
}
