import type { BitArray } from "@chainsafe/ssz";

/** Number of set bits. */
export function countBits(bits: BitArray): number {
  let count = 0;
  for (let byte of bits.uint8Array) {
    for (; byte !== 0; byte &= byte - 1) count++;
  }
  return count;
}

/** True if every bit of `inner` is set in `outer`. */
export function isSubset(inner: BitArray, outer: BitArray): boolean {
  const innerBytes = inner.uint8Array;
  const outerBytes = outer.uint8Array;
  for (let i = 0; i < innerBytes.length; i++) {
    if ((innerBytes[i]! & ~outerBytes[i]!) !== 0) return false;
  }
  return true;
}

export function areDisjoint(left: BitArray, right: BitArray): boolean {
  const leftBytes = left.uint8Array;
  const rightBytes = right.uint8Array;
  for (let i = 0; i < leftBytes.length; i++) {
    if ((leftBytes[i]! & rightBytes[i]!) !== 0) return false;
  }
  return true;
}
