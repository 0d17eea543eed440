/** Finds the indices of public keys, in memory that threads can share. The keys themselves lie elsewhere, by their indices. */
export interface KeyTable {
  /** Indices from one on, and `NO_KEY` where there is none. Their number is a power of two, and some have none. */
  readonly slots: Int32Array;
  /** Whoever registers validators chooses their keys, but not which of them fall together. */
  readonly factor: number;
}

export const NO_KEY = 0;

/** The slot that has the index of the key, or the free one where it would be. */
export function slotOfKey({ slots, factor }: KeyTable, key: Uint8Array, isKeyOf: (index: number) => boolean): number {
  const mask = slots.length - 1;
  // Both forms of a key have the same bytes of x, but for the first.
  let slot = (Math.imul(wordAt(key, 8), factor) + wordAt(key, 40)) & mask;
  for (;;) {
    const entry = slots[slot]!;
    if (entry === NO_KEY || isKeyOf(entry - 1)) return slot;
    slot = (slot + 1) & mask;
  }
}

function wordAt(key: Uint8Array, start: number): number {
  return key[start]! | (key[start + 1]! << 8) | (key[start + 2]! << 16) | (key[start + 3]! << 24);
}
