import {
  copyLimbs,
  setLimbs,
  setNumber,
  setZero,
  toNumber,
  WORD_BITS,
  WORD_BYTES,
  WORD_LIMBS,
  type Word,
} from "./word.ts";

const LIMB_BITS = 32;
const BYTE_MASK = 0xff;
const source = new Int32Array(WORD_LIMBS);
const target = new Int32Array(WORD_LIMBS);

/** Sets `b` to the bits of `a & b`. */
export function and(a: Word, b: Word): void {
  b.l0 &= a.l0;
  b.l1 &= a.l1;
  b.l2 &= a.l2;
  b.l3 &= a.l3;
  b.l4 &= a.l4;
  b.l5 &= a.l5;
  b.l6 &= a.l6;
  b.l7 &= a.l7;
}

/** Sets `b` to the bits of `a | b`. */
export function or(a: Word, b: Word): void {
  b.l0 |= a.l0;
  b.l1 |= a.l1;
  b.l2 |= a.l2;
  b.l3 |= a.l3;
  b.l4 |= a.l4;
  b.l5 |= a.l5;
  b.l6 |= a.l6;
  b.l7 |= a.l7;
}

/** Sets `b` to the bits of `a ^ b`. */
export function xor(a: Word, b: Word): void {
  b.l0 ^= a.l0;
  b.l1 ^= a.l1;
  b.l2 ^= a.l2;
  b.l3 ^= a.l3;
  b.l4 ^= a.l4;
  b.l5 ^= a.l5;
  b.l6 ^= a.l6;
  b.l7 ^= a.l7;
}

export function invert(a: Word): void {
  a.l0 = ~a.l0;
  a.l1 = ~a.l1;
  a.l2 = ~a.l2;
  a.l3 = ~a.l3;
  a.l4 = ~a.l4;
  a.l5 = ~a.l5;
  a.l6 = ~a.l6;
  a.l7 = ~a.l7;
}

/** Shifts `b` left by `a` bits. */
export function shiftLeft(a: Word, b: Word): void {
  const distance = toNumber(a);
  if (distance >= WORD_BITS) {
    setZero(b);
    return;
  }
  const limbs = distance >> 5;
  const bits = distance & 31;
  copyLimbs(b, source);
  for (let limb = 0; limb < WORD_LIMBS; limb++) {
    const from = limb - limbs;
    const high = from >= 0 ? source[from]! << bits : 0;
    // JavaScript treats a shift by 32 bits as a shift by zero.
    const low = from >= 1 && bits > 0 ? source[from - 1]! >>> (LIMB_BITS - bits) : 0;
    target[limb] = high | low;
  }
  setLimbs(b, target);
}

/** Shifts `b` right by `a` bits. */
export function shiftRight(a: Word, b: Word): void {
  shiftRightFilled(a, b, 0);
}

/** Shifts the signed word `b` right by `a` bits. */
export function shiftRightSigned(a: Word, b: Word): void {
  shiftRightFilled(a, b, b.l7 >> (LIMB_BITS - 1));
}

function shiftRightFilled(a: Word, b: Word, fill: number): void {
  const distance = Math.min(toNumber(a), WORD_BITS);
  const limbs = distance >> 5;
  const bits = distance & 31;
  copyLimbs(b, source);
  for (let limb = 0; limb < WORD_LIMBS; limb++) {
    const from = limb + limbs;
    const low = from < WORD_LIMBS ? source[from]! : fill;
    const high = from + 1 < WORD_LIMBS ? source[from + 1]! : fill;
    target[limb] = bits === 0 ? low : (low >>> bits) | (high << (LIMB_BITS - bits));
  }
  setLimbs(b, target);
}

/** Sets `b` to its byte at index `a`, counted from the highest byte. */
export function selectByte(a: Word, b: Word): void {
  const index = toNumber(a);
  if (index >= WORD_BYTES) {
    setZero(b);
    return;
  }
  const shift = WORD_BYTES - 1 - index;
  copyLimbs(b, source);
  setNumber(b, (source[shift >> 2]! >>> ((shift & 3) * 8)) & BYTE_MASK);
}

/** Extends the sign of `b` from the byte at index `a`, counted from the lowest byte. */
export function signExtend(a: Word, b: Word): void {
  const index = toNumber(a);
  if (index >= WORD_BYTES - 1) return;
  copyLimbs(b, target);
  const limb = index >> 2;
  const unused = LIMB_BITS - 8 * ((index & 3) + 1);
  const extended = (target[limb]! << unused) >> unused;
  target[limb] = extended;
  target.fill(extended >> (LIMB_BITS - 1), limb + 1);
  setLimbs(b, target);
}

/** Replaces a word with the number of its leading zeros. */
export function countLeadingZeros(a: Word): void {
  copyLimbs(a, source);
  let limb = WORD_LIMBS - 1;
  while (limb > 0 && source[limb] === 0) limb--;
  setNumber(a, (WORD_LIMBS - 1 - limb) * LIMB_BITS + Math.clz32(source[limb]!));
}
