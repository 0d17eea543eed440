import { randomInt } from "node:crypto";
import { type KeyTable, NO_KEY, slotOfKey } from "../key-table.ts";
import { COMPRESSED_LENGTH, isCompressed, isSameKey, type KeyMemory } from "./key-memory.ts";

const MIN_SLOTS = 64;

/** Finds the index of a key in a memory: a hash table of indices alone, which looks into the memory for the keys. */
export class KeyIndex {
  readonly #memory: KeyMemory;
  /** At most half full. Another one takes its place when it is too small, or keys are forgotten. */
  #table: KeyTable = { slots: sharedSlots(MIN_SLOTS), factor: randomInt(2 ** 31) * 2 + 1 };
  #used = 0;

  constructor(memory: KeyMemory) {
    this.#memory = memory;
  }

  /** For other threads, which may not write into it: finds the keys that are known by now, and perhaps later ones. */
  get table(): KeyTable {
    return this.#table;
  }

  find(compressed: Uint8Array): number | null {
    if (compressed.length !== COMPRESSED_LENGTH || !isCompressed(compressed)) return null;
    const entry = this.#table.slots[this.#slotOf(compressed)]!;
    return entry === NO_KEY ? null : entry - 1;
  }

  /** Makes room for that many keys at once. */
  reserve(count: number): void {
    const { length } = this.#table.slots;
    let slots = length;
    while (slots < 2 * count) slots *= 2;
    if (slots > length) this.#rebuild(slots, Number.POSITIVE_INFINITY);
  }

  /** Has the key that lies at an index in the memory found there from now on, also if it lies elsewhere, too. */
  add(index: number): void {
    this.reserve(this.#used + 1);
    this.#put(index);
  }

  /** Forgets all keys from an index on. */
  truncate(size: number): void {
    this.#rebuild(this.#table.slots.length, size);
  }

  #rebuild(length: number, size: number): void {
    const { slots: former, factor } = this.#table;
    this.#table = { slots: sharedSlots(length), factor };
    this.#used = 0;
    for (const entry of former) if (entry !== NO_KEY && entry <= size) this.#put(entry - 1);
  }

  #put(index: number): void {
    const slot = this.#slotOf(this.#memory.at(index));
    const { slots } = this.#table;
    if (slots[slot] === NO_KEY) this.#used++;
    slots[slot] = index + 1;
  }

  #slotOf(key: Uint8Array): number {
    return slotOfKey(this.#table, key, (index) => isSameKey(this.#memory.at(index), key));
  }
}

function sharedSlots(length: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(length * Int32Array.BYTES_PER_ELEMENT));
}
