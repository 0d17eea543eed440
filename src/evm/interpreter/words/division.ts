import { multiplyInto, negate } from "./arithmetic.ts";
import { copyLimbs, isNegative, isZero, setLimbs, setNumber, toNumber, WORD_LIMBS, type Word } from "./word.ts";

const LIMB_BASE = 2 ** 32;
const DIGIT_BITS = 16;
const DIGIT_BASE = 2 ** DIGIT_BITS;
const DIGIT_MASK = DIGIT_BASE - 1;
const WORD_DIGITS = 2 * WORD_LIMBS;

const dividend = new Uint16Array(2 * WORD_DIGITS + 1);
const divisor = new Uint16Array(WORD_DIGITS);
const quotient = new Uint16Array(2 * WORD_DIGITS);
const limbs = new Int32Array(2 * WORD_LIMBS);
const otherLimbs = new Int32Array(WORD_LIMBS);

/** Sets `b` to `a / b`, rounded down. Division by zero yields zero. */
export function divide(a: Word, b: Word): void {
  const one = toNumber(a);
  const other = toNumber(b);
  if (other === 0) return;
  if (Number.isFinite(one) && Number.isFinite(other)) {
    setNumber(b, Math.floor(one / other));
    return;
  }
  copyLimbs(a, limbs);
  divideLimbs(WORD_LIMBS, b);
  setDigits(b, quotient);
}

/** Sets `b` to the remainder of `a / b`, or to zero if `b` is zero. */
export function remainder(a: Word, b: Word): void {
  const one = toNumber(a);
  const other = toNumber(b);
  if (other === 0) return;
  if (Number.isFinite(one) && Number.isFinite(other)) {
    setNumber(b, one % other);
    return;
  }
  copyLimbs(a, limbs);
  divideLimbs(WORD_LIMBS, b);
  setDigits(b, dividend);
}

/** Like `divide`, but for signed words. Rounds toward zero. Modifies `a`. */
export function divideSigned(a: Word, b: Word): void {
  const isResultNegative = isNegative(a) !== isNegative(b);
  makeAbsolute(a);
  makeAbsolute(b);
  divide(a, b);
  if (isResultNegative) negate(b);
}

/** Like `remainder`, but for signed words. The result has the sign of `a`. Modifies `a`. */
export function remainderSigned(a: Word, b: Word): void {
  const isResultNegative = isNegative(a);
  makeAbsolute(a);
  makeAbsolute(b);
  remainder(a, b);
  if (isResultNegative) negate(b);
}

/** Sets `c` to the remainder of `(a + b) / c`. */
export function addModulo(a: Word, b: Word, c: Word): void {
  if (isZero(c)) return;
  copyLimbs(a, limbs);
  copyLimbs(b, otherLimbs);
  let carry = 0;
  for (let limb = 0; limb < WORD_LIMBS; limb++) {
    const sum = (limbs[limb]! >>> 0) + (otherLimbs[limb]! >>> 0) + carry;
    limbs[limb] = sum;
    carry = sum >= LIMB_BASE ? 1 : 0;
  }
  limbs[WORD_LIMBS] = carry;
  divideLimbs(WORD_LIMBS + 1, c);
  setDigits(c, dividend);
}

/** Sets `c` to the remainder of `(a * b) / c`. */
export function multiplyModulo(a: Word, b: Word, c: Word): void {
  if (isZero(c)) return;
  multiplyInto(limbs, 2 * WORD_LIMBS, a, b);
  divideLimbs(2 * WORD_LIMBS, c);
  setDigits(c, dividend);
}

function makeAbsolute(a: Word): void {
  if (isNegative(a)) negate(a);
}

/** Divides the first `length` limbs in `limbs` by a word. */
function divideLimbs(length: number, by: Word): void {
  const dividendLength = readDigits(dividend, limbs, length);
  copyLimbs(by, otherLimbs);
  divideDigits(dividendLength, readDigits(divisor, otherLimbs, WORD_LIMBS));
}

/** Splits limbs into digits. Returns the number of digits, not counting leading zeros. */
function readDigits(digits: Uint16Array, from: Int32Array, length: number): number {
  let digitCount = 0;
  for (let limb = 0; limb < length; limb++) {
    const value = from[limb]!;
    digits[2 * limb] = value;
    digits[2 * limb + 1] = value >>> DIGIT_BITS;
    if (value !== 0) digitCount = value >>> DIGIT_BITS === 0 ? 2 * limb + 1 : 2 * limb + 2;
  }
  return digitCount;
}

function setDigits(a: Word, digits: Uint16Array): void {
  for (let limb = 0; limb < WORD_LIMBS; limb++) {
    limbs[limb] = digits[2 * limb]! | (digits[2 * limb + 1]! << DIGIT_BITS);
  }
  setLimbs(a, limbs);
}

/**
 * Divides `dividend` by a nonzero `divisor`, using Knuth's algorithm D (The Art of Computer Programming, 4.3.1). Sets
 * the lowest word of `quotient`, and leaves the remainder in `dividend`.
 */
function divideDigits(length: number, divisorLength: number): void {
  quotient.fill(0, 0, Math.max(length, WORD_DIGITS));
  if (length < divisorLength) {
    clearAbove(length);
    return;
  }
  if (divisorLength === 1) {
    divideByDigit(length, divisor[0]!);
    return;
  }
  const shift = Math.clz32(divisor[divisorLength - 1]!) - DIGIT_BITS;
  dividend[length] = 0;
  shiftLeft(divisor, divisorLength, shift);
  shiftLeft(dividend, length + 1, shift);
  const first = divisor[divisorLength - 1]!;
  const second = divisor[divisorLength - 2]!;
  for (let position = length - divisorLength; position >= 0; position--) {
    const top = position + divisorLength;
    const leading = twoDigits(dividend[top]!, dividend[top - 1]!);
    let digit = Math.min((leading / first) >>> 0, DIGIT_MASK);
    let rest = leading - digit * first;
    while (rest < DIGIT_BASE && digit * second > rest * DIGIT_BASE + dividend[top - 2]!) {
      digit--;
      rest += first;
    }
    if (subtractMultiple(position, divisorLength, digit)) {
      digit--;
      addBack(position, divisorLength);
    }
    quotient[position] = digit;
  }
  shiftRight(dividend, divisorLength, shift);
  clearAbove(divisorLength);
}

function divideByDigit(length: number, digit: number): void {
  let rest = 0;
  for (let position = length - 1; position >= 0; position--) {
    const leading = twoDigits(rest, dividend[position]!);
    const result = (leading / digit) >>> 0;
    quotient[position] = result;
    rest = leading - result * digit;
  }
  dividend[0] = rest;
  clearAbove(1);
}

/** Returns an unsigned 32-bit integer, which V8 divides without floating point. */
function twoDigits(high: number, low: number): number {
  return ((high << DIGIT_BITS) | low) >>> 0;
}

/** Clears the digits of the remainder above its length. */
function clearAbove(length: number): void {
  dividend.fill(0, length, Math.max(length, WORD_DIGITS));
}

/** Subtracts a multiple of the divisor at a position. Returns true if the difference is negative. */
function subtractMultiple(position: number, divisorLength: number, digit: number): boolean {
  let borrow = 0;
  let carry = 0;
  for (let index = 0; index < divisorLength; index++) {
    const multiple = (Math.imul(digit, divisor[index]!) + carry) >>> 0;
    carry = multiple >>> DIGIT_BITS;
    const difference = dividend[position + index]! - (multiple & DIGIT_MASK) - borrow;
    dividend[position + index] = difference;
    borrow = difference < 0 ? 1 : 0;
  }
  const difference = dividend[position + divisorLength]! - carry - borrow;
  dividend[position + divisorLength] = difference;
  return difference < 0;
}

function addBack(position: number, divisorLength: number): void {
  let carry = 0;
  for (let index = 0; index < divisorLength; index++) {
    const sum = dividend[position + index]! + divisor[index]! + carry;
    dividend[position + index] = sum;
    carry = sum >>> DIGIT_BITS;
  }
  dividend[position + divisorLength]! += carry;
}

function shiftLeft(digits: Uint16Array, length: number, bits: number): void {
  let carry = 0;
  for (let index = 0; index < length; index++) {
    const shifted = (digits[index]! << bits) | carry;
    digits[index] = shifted;
    carry = shifted >>> DIGIT_BITS;
  }
}

function shiftRight(digits: Uint16Array, length: number, bits: number): void {
  let carry = 0;
  for (let index = length - 1; index >= 0; index--) {
    const digit = digits[index]!;
    digits[index] = (digit >>> bits) | carry;
    carry = digit << (DIGIT_BITS - bits);
  }
}
