import { randomInt } from "node:crypto";
import { COMPRESSED_LENGTH, isCompressed, isSameKey, type KeyMemory } from "./key-memory.ts";

const MIN_SLOTS = 64;
const NO_KEY = 0;

/** Hash table from public keys to indices. Stores only indices; keys are compared in the key memory. */
export class KeyIndex {
  readonly #memory: KeyMemory;
  /** Index plus one, or `NO_KEY`. The length is a power of two, and at most half of the slots are used. */
  #slots = new Int32Array(MIN_SLOTS);
  #used = 0;
  /** Random, so that colliding keys cannot be registered on purpose. */
  readonly #factor = randomInt(2 ** 31) * 2 + 1;

  constructor(memory: KeyMemory) {
    this.#memory = memory;
  }

  find(compressed: Uint8Array): number | null {
    if (compressed.length !== COMPRESSED_LENGTH || !isCompressed(compressed)) return null;
    const entry = this.#slots[this.#slotOf(compressed)]!;
    return entry === NO_KEY ? null : entry - 1;
  }

  /** Grows the table to fit `count` keys. */
  reserve(count: number): void {
    let { length } = this.#slots;
    while (length < 2 * count) length *= 2;
    if (length > this.#slots.length) this.#rebuild(length, Number.POSITIVE_INFINITY);
  }

  /** Maps the key stored at an index to that index; a duplicate key is remapped. */
  add(index: number): void {
    this.reserve(this.#used + 1);
    this.#put(index);
  }

  /** Removes all keys from the given index onwards. */
  truncate(size: number): void {
    this.#rebuild(this.#slots.length, size);
  }

  #rebuild(length: number, size: number): void {
    const former = this.#slots;
    this.#slots = new Int32Array(length);
    this.#used = 0;
    for (const entry of former) if (entry !== NO_KEY && entry <= size) this.#put(entry - 1);
  }

  #put(index: number): void {
    const slot = this.#slotOf(this.#memory.at(index));
    if (this.#slots[slot] === NO_KEY) this.#used++;
    this.#slots[slot] = index + 1;
  }

  /** Returns the slot of the key, or the free slot for it (linear probing). */
  #slotOf(key: Uint8Array): number {
    const mask = this.#slots.length - 1;
    // Compressed and uncompressed keys share the bytes of x except the first.
    let slot = (Math.imul(wordAt(key, 8), this.#factor) + wordAt(key, 40)) & mask;
    for (;;) {
      const entry = this.#slots[slot]!;
      if (entry === NO_KEY || isSameKey(this.#memory.at(entry - 1), key)) return slot;
      slot = (slot + 1) & mask;
    }
  }
}

function wordAt(key: Uint8Array, start: number): number {
  return key[start]! | (key[start + 1]! << 8) | (key[start + 2]! << 16) | (key[start + 3]! << 24);
}
