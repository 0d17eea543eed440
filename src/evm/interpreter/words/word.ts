/** A 256-bit word. */
export const WORD_BYTES = 32;
export const WORD_BITS = 256;
export const WORD_LIMBS = 8;

const LIMB_BITS = 32;
const LIMB_BYTES = 4;
const BYTE_BITS = 8;
const LIMB_BASE = 2 ** LIMB_BITS;
const BIG_LIMB_BITS = BigInt(LIMB_BITS);
/** Bits that the second limb of a safe integer may use. */
const SECOND_LIMB_BITS = 21;
const ADDRESS_BYTES = 20;

/**
 * A word made up of 32-bit limbs, lowest first. Words belong to a frame's stack and are overwritten in place, so no
 * operation allocates. Limbs are signed: V8 keeps signed 32-bit integers unboxed even before it optimizes the code.
 * Fields are a third faster than a single Int32Array for all words, because they need neither offsets nor bounds
 * checks.
 */
export class Word {
  l0 = 0;
  l1 = 0;
  l2 = 0;
  l3 = 0;
  l4 = 0;
  l5 = 0;
  l6 = 0;
  l7 = 0;
}

export function isZero(a: Word): boolean {
  return (a.l0 | a.l1 | a.l2 | a.l3 | a.l4 | a.l5 | a.l6 | a.l7) === 0;
}

export function isNegative(a: Word): boolean {
  return a.l7 < 0;
}

/** Sets the two lowest limbs of a word and clears all others. */
function setLow(a: Word, first: number, second: number): void {
  a.l0 = first;
  a.l1 = second;
  a.l2 = 0;
  a.l3 = 0;
  a.l4 = 0;
  a.l5 = 0;
  a.l6 = 0;
  a.l7 = 0;
}

export function setZero(a: Word): void {
  setLow(a, 0, 0);
}

export function setBoolean(a: Word, value: boolean): void {
  setLow(a, value ? 1 : 0, 0);
}

/** Sets a word to an integer from 0 to 2^53 - 1. */
export function setNumber(a: Word, value: number): void {
  setLow(a, value | 0, (value / LIMB_BASE) | 0);
}

/** Sets a word to an integer below 2^256. */
export function setBigInt(a: Word, value: bigint): void {
  if (value <= Number.MAX_SAFE_INTEGER) {
    setNumber(a, Number(value));
    return;
  }
  let rest = value;
  for (let limb = 0; limb < WORD_LIMBS; limb++) {
    scratch[limb] = Number(BigInt.asIntN(LIMB_BITS, rest));
    rest >>= BIG_LIMB_BITS;
  }
  setLimbs(a, scratch);
}

/** Sets a word from at most 32 big-endian bytes. */
export function setBytes(a: Word, bytes: Uint8Array): void {
  scratch.fill(0);
  for (let index = 0, shift = bytes.length - 1; shift >= 0; index++, shift--) {
    scratch[shift >> 2]! |= bytes[index]! << ((shift & 3) * BYTE_BITS);
  }
  setLimbs(a, scratch);
}

/** Sets a word to the 32 bytes at an offset in `bytes`, padded with zeros past the end. */
export function setPadded(a: Word, bytes: Uint8Array, offset: number): void {
  scratch.fill(0);
  const length = Math.min(bytes.length - offset, WORD_BYTES);
  for (let index = 0, shift = WORD_BYTES - 1; index < length; index++, shift--) {
    scratch[shift >> 2]! |= bytes[offset + index]! << ((shift & 3) * BYTE_BITS);
  }
  setLimbs(a, scratch);
}

/** Sets a word to the big-endian integer of 1 to 32 bytes at an offset in `view`. */
export function setFromView(a: Word, view: DataView, offset: number, size: number): void {
  if (size === 1) {
    setLow(a, view.getUint8(offset), 0);
    return;
  }
  let end = offset + size;
  let limb = 0;
  for (; end - LIMB_BYTES >= offset; limb++) {
    end -= LIMB_BYTES;
    scratch[limb] = view.getInt32(end);
  }
  if (end > offset) {
    let rest = 0;
    for (let position = offset; position < end; position++) rest = (rest << BYTE_BITS) | view.getUint8(position);
    scratch[limb++] = rest;
  }
  for (; limb < WORD_LIMBS; limb++) scratch[limb] = 0;
  setLimbs(a, scratch);
}

/** Reads a word from 32 big-endian bytes. */
export function load(a: Word, view: DataView, offset: number): void {
  a.l0 = view.getInt32(offset + 28);
  a.l1 = view.getInt32(offset + 24);
  a.l2 = view.getInt32(offset + 20);
  a.l3 = view.getInt32(offset + 16);
  a.l4 = view.getInt32(offset + 12);
  a.l5 = view.getInt32(offset + 8);
  a.l6 = view.getInt32(offset + 4);
  a.l7 = view.getInt32(offset);
}

/** Writes a word as 32 big-endian bytes. */
export function store(a: Word, view: DataView, offset: number): void {
  view.setInt32(offset + 28, a.l0);
  view.setInt32(offset + 24, a.l1);
  view.setInt32(offset + 20, a.l2);
  view.setInt32(offset + 16, a.l3);
  view.setInt32(offset + 12, a.l4);
  view.setInt32(offset + 8, a.l5);
  view.setInt32(offset + 4, a.l6);
  view.setInt32(offset, a.l7);
}

export function copy(from: Word, to: Word): void {
  to.l0 = from.l0;
  to.l1 = from.l1;
  to.l2 = from.l2;
  to.l3 = from.l3;
  to.l4 = from.l4;
  to.l5 = from.l5;
  to.l6 = from.l6;
  to.l7 = from.l7;
}

/** Sets a word to the first limbs in an array. */
export function setLimbs(a: Word, limbs: Int32Array): void {
  a.l0 = limbs[0]!;
  a.l1 = limbs[1]!;
  a.l2 = limbs[2]!;
  a.l3 = limbs[3]!;
  a.l4 = limbs[4]!;
  a.l5 = limbs[5]!;
  a.l6 = limbs[6]!;
  a.l7 = limbs[7]!;
}

export function copyLimbs(a: Word, limbs: Int32Array): void {
  limbs[0] = a.l0;
  limbs[1] = a.l1;
  limbs[2] = a.l2;
  limbs[3] = a.l3;
  limbs[4] = a.l4;
  limbs[5] = a.l5;
  limbs[6] = a.l6;
  limbs[7] = a.l7;
}

/** Returns a word as a number, or infinity if the word is above 2^53 - 1. */
export function toNumber(a: Word): number {
  if (((a.l1 >>> SECOND_LIMB_BITS) | a.l2 | a.l3 | a.l4 | a.l5 | a.l6 | a.l7) !== 0) return Number.POSITIVE_INFINITY;
  return a.l1 * LIMB_BASE + (a.l0 >>> 0);
}

export function toBigInt(a: Word): bigint {
  const number = toNumber(a);
  if (Number.isFinite(number)) return BigInt(number);
  copyLimbs(a, scratch);
  let value = 0n;
  for (let limb = WORD_LIMBS - 1; limb >= 0; limb--) {
    value = (value << BIG_LIMB_BITS) | BigInt(scratch[limb]! >>> 0);
  }
  return value;
}

/** Returns a word as 32 big-endian bytes. */
export function toBytes(a: Word): Uint8Array {
  const bytes = new Uint8Array(WORD_BYTES);
  copyLimbs(a, scratch);
  for (let index = 0, shift = WORD_BYTES - 1; shift >= 0; index++, shift--) {
    bytes[index] = scratch[shift >> 2]! >>> ((shift & 3) * BYTE_BITS);
  }
  return bytes;
}

/** Returns the lowest 20 bytes of a word in big-endian order. */
export function toAddressBytes(a: Word): Uint8Array {
  return toBytes(a).slice(WORD_BYTES - ADDRESS_BYTES);
}

/** Returns the number of bytes in a word, not counting leading zeros. */
export function significantBytes(a: Word): number {
  copyLimbs(a, scratch);
  for (let limb = WORD_LIMBS - 1; limb >= 0; limb--) {
    const value = scratch[limb]!;
    if (value !== 0) return (limb + 1) * LIMB_BYTES - (Math.clz32(value) >> 3);
  }
  return 0;
}

const scratch = new Int32Array(WORD_LIMBS);
