import { describe, expect, it } from "vitest";
import { add, multiply, negate, subtract } from "./arithmetic.ts";
import {
  and,
  countLeadingZeros,
  invert,
  or,
  selectByte,
  shiftLeft,
  shiftRight,
  shiftRightSigned,
  signExtend,
  xor,
} from "./bits.ts";
import { areEqual, isLess, isLessSigned } from "./comparison.ts";
import { addModulo, divide, divideSigned, multiplyModulo, remainder, remainderSigned } from "./division.ts";
import {
  copy,
  isZero,
  load,
  setBigInt,
  setBytes,
  setFromView,
  significantBytes,
  store,
  toAddressBytes,
  toBigInt,
  toBytes,
  toNumber,
  WORD_BYTES,
  Word,
} from "./word.ts";

const SIZE = 256;
const unsigned = (value: bigint) => BigInt.asUintN(SIZE, value);
const signed = (value: bigint) => BigInt.asIntN(SIZE, value);
const MAX = unsigned(-1n);

/** Returns numbers at which carries, signs and divisor lengths change, and random numbers of all lengths. */
function interestingNumbers(count: number): bigint[] {
  let seed = 1;
  const random = () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return seed / 0x80000000;
  };
  const edges = [0n, 1n, 2n, 3n, 31n, 32n, 255n, 256n, 257n, MAX, MAX - 1n, 1n << 255n, (1n << 255n) - 1n];
  for (let bits = 15n; bits < 256n; bits += 16n) edges.push(1n << bits, (1n << (bits + 1n)) - 1n, 1n << (bits + 1n));
  const others = Array.from({ length: count }, () => {
    let value = 0n;
    for (let digit = 0; digit < 16; digit++) {
      const kind = random();
      const part = kind < 0.2 ? 0 : kind < 0.4 ? 0xffff : kind < 0.5 ? 0x8000 : Math.floor(random() * 0x10000);
      value = (value << 16n) | BigInt(part);
    }
    return value >> BigInt(Math.floor(random() * 256));
  });
  return [...edges.map(unsigned), ...others];
}

const NUMBERS = interestingNumbers(120);

function wordOf(value: bigint): Word {
  const word = new Word();
  setBigInt(word, value);
  return word;
}

type Operation = (a: Word, b: Word) => void;

const BINARY: Record<string, [Operation, (a: bigint, b: bigint) => bigint]> = {
  add: [add, (a, b) => a + b],
  subtract: [subtract, (a, b) => a - b],
  multiply: [multiply, (a, b) => a * b],
  divide: [divide, (a, b) => (b === 0n ? 0n : a / b)],
  remainder: [remainder, (a, b) => (b === 0n ? 0n : a % b)],
  divideSigned: [divideSigned, (a, b) => (b === 0n ? 0n : signed(a) / signed(b))],
  remainderSigned: [remainderSigned, (a, b) => (b === 0n ? 0n : signed(a) % signed(b))],
  and: [and, (a, b) => a & b],
  or: [or, (a, b) => a | b],
  xor: [xor, (a, b) => a ^ b],
  shiftLeft: [shiftLeft, (a, b) => (a > 255n ? 0n : b << a)],
  shiftRight: [shiftRight, (a, b) => (a > 255n ? 0n : b >> a)],
  shiftRightSigned: [shiftRightSigned, (a, b) => signed(b) >> (a > 255n ? 256n : a)],
  selectByte: [selectByte, (a, b) => (a > 31n ? 0n : (b >> (8n * (31n - a))) & 0xffn)],
  signExtend: [signExtend, (a, b) => (a > 30n ? b : BigInt.asIntN(8 * (Number(a) + 1), b))],
};

const COMPARISONS: Record<string, [(a: Word, b: Word) => boolean, (a: bigint, b: bigint) => boolean]> = {
  areEqual: [areEqual, (a, b) => a === b],
  isLess: [isLess, (a, b) => a < b],
  isLessSigned: [isLessSigned, (a, b) => signed(a) < signed(b)],
};

describe("words of 256 bits agree with BigInt", () => {
  it.each(Object.entries(BINARY))("%s", (_, [operate, expected]) => {
    for (const a of [...NUMBERS, 4n, 7n, 30n, 63n, 64n, 65n, 200n]) {
      for (const b of NUMBERS) {
        const result = wordOf(b);
        operate(wordOf(a), result);
        const right = unsigned(expected(a, b));
        if (toBigInt(result) !== right) expect({ a, b, result: toBigInt(result) }).toEqual({ a, b, result: right });
      }
    }
  });

  it.each(Object.entries(COMPARISONS))("%s", (_, [compare, expected]) => {
    for (const a of NUMBERS) {
      for (const b of NUMBERS) {
        if (compare(wordOf(a), wordOf(b)) !== expected(a, b)) expect([a, b]).toBe(expected(a, b));
      }
    }
  });

  it("addModulo and multiplyModulo", () => {
    for (const a of NUMBERS) {
      for (const [index, b] of NUMBERS.entries()) {
        const c = NUMBERS[(index * 7 + Number(a % 97n)) % NUMBERS.length]!;
        const sum = wordOf(c);
        addModulo(wordOf(a), wordOf(b), sum);
        if (toBigInt(sum) !== (c === 0n ? 0n : (a + b) % c)) expect([a, b, c]).toBe("sum");
        const product = wordOf(c);
        multiplyModulo(wordOf(a), wordOf(b), product);
        if (toBigInt(product) !== (c === 0n ? 0n : (a * b) % c)) expect([a, b, c]).toBe("product");
      }
    }
  });

  it("operations on one word, and conversions", () => {
    for (const a of NUMBERS) {
      const bytes = Buffer.from(a.toString(16).padStart(2 * WORD_BYTES, "0"), "hex");
      const word = wordOf(a);
      const other = wordOf(unsigned(-1n));
      expect(isZero(word)).toBe(a === 0n);
      expect(toNumber(word)).toBe(a <= Number.MAX_SAFE_INTEGER ? Number(a) : Number.POSITIVE_INFINITY);
      expect(Buffer.from(toBytes(word))).toEqual(bytes);
      expect(Buffer.from(toAddressBytes(word))).toEqual(bytes.subarray(12));
      expect(significantBytes(word)).toBe(a === 0n ? 0 : Math.ceil(a.toString(16).length / 2));
      setBytes(other, bytes);
      expect(toBigInt(other)).toBe(a);
      const view = new DataView(new ArrayBuffer(40));
      store(word, view, 5);
      expect(Buffer.from(view.buffer, 5, WORD_BYTES)).toEqual(bytes);
      load(other, view, 5);
      expect(toBigInt(other)).toBe(a);
      for (let size = 1; size <= WORD_BYTES; size++) {
        setFromView(other, view, 5, size);
        expect(toBigInt(other)).toBe(a >> BigInt(8 * (WORD_BYTES - size)));
      }
      invert(other);
      expect(toBigInt(other)).toBe(unsigned(~a));
      copy(word, other);
      expect(toBigInt(other)).toBe(a);
      negate(word);
      expect(toBigInt(word)).toBe(unsigned(-a));
      countLeadingZeros(other);
      expect(toNumber(other)).toBe(a === 0n ? SIZE : SIZE - a.toString(2).length);
    }
  });
});
