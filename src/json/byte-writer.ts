const DIGITS = "0123456789abcdef";
const TWO_TO_32 = 2 ** 32;
/** From this value on, the upper half of a 64-bit integer makes the integer unsafe. */
const INEXACT_UPPER_HALF = 2 ** 21;

const LONG_COPY_BYTES = 64;

const hexCode = (digit: number) => DIGITS.charCodeAt(digit);
/** Hex digits of a byte as a little-endian word. */
const HEX_OF_BYTE = Uint16Array.from({ length: 256 }, (_, byte) => hexCode(byte >> 4) | (hexCode(byte & 15) << 8));
/** The least significant digit is the last one. */
const TWO_DIGITS = Uint16Array.from({ length: 100 }, (_, value) => {
  return hexCode(Math.floor(value / 10)) | (hexCode(value % 10) << 8);
});
/** Four decimal digits with leading zeros as a little-endian word. Filled by the first writer. */
const FOUR_DIGITS = new Uint32Array(10_000);
/** Hex digits of two bytes as a little-endian word, indexed by those bytes as a little-endian number. Likewise. */
const HEX_OF_TWO_BYTES = new Uint32Array(2 ** 16);

function fillTables(): void {
  for (let pair = 0; pair < HEX_OF_TWO_BYTES.length; pair++) {
    HEX_OF_TWO_BYTES[pair] = HEX_OF_BYTE[pair & 0xff]! | (HEX_OF_BYTE[pair >> 8]! << 16);
  }
  for (let value = 0; value < FOUR_DIGITS.length; value++) {
    FOUR_DIGITS[value] = TWO_DIGITS[Math.floor(value / 100)]! | (TWO_DIGITS[value % 100]! << 16);
  }
}

const STEP_BYTES = 8;

/** Number of bytes past its end that a write may touch. */
export const SPARE_BYTES = STEP_BYTES - 1;

/**
 * Precomputed ASCII text, written eight bytes at a time as float64 values. ASCII bytes never form a NaN, whose bits an
 * engine may change.
 */
export interface Constant {
  readonly steps: Float64Array;
  readonly length: number;
}

/** Precomputes ASCII text for `ByteWriter.constant`. */
export function constant(text: string): Constant {
  const padded = Buffer.alloc(Math.ceil(text.length / STEP_BYTES) * STEP_BYTES);
  padded.write(text, "latin1");
  return {
    steps: Float64Array.from({ length: padded.length / STEP_BYTES }, (_, index) =>
      padded.readDoubleLE(index * STEP_BYTES),
    ),
    length: text.length,
  };
}

/** FAR_FUTURE_EPOCH, the largest uint64. */
const FAR_FUTURE = constant("18446744073709551615");

/**
 * Writes JSON and SSZ directly into a buffer, without intermediate strings or objects. Does not check bounds: the
 * buffer must have room for each write plus `SPARE_BYTES`. A write may clobber those bytes, which the next write
 * overwrites.
 */
export class ByteWriter {
  #bytes: Buffer;
  #view: DataView;
  /** Position of the next byte. */
  at = 0;

  constructor(bytes: Buffer) {
    if (FOUR_DIGITS[0] === 0) fillTables();
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }

  get bytes(): Buffer {
    return this.#bytes;
  }

  /** Continues writing at the start of another buffer. */
  continueIn(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
    this.at = 0;
  }

  /** The bytes written so far, without a copy. */
  get written(): Buffer {
    return this.#bytes.subarray(0, this.at);
  }

  /** Free bytes in the buffer. */
  get room(): number {
    return this.#bytes.length - this.at;
  }

  byte(value: number): void {
    this.#bytes[this.at++] = value;
  }

  constant({ steps, length }: Constant): void {
    const { at } = this;
    const view = this.#view;
    for (let index = 0; index < steps.length; index++) view.setFloat64(at + index * STEP_BYTES, steps[index]!, true);
    this.at = at + length;
  }

  /** Writes Latin-1 text. Slower than a constant. */
  text(value: string): void {
    this.at += this.#bytes.write(value, this.at, "latin1");
  }

  /** Copies bytes unchanged. Optimized for short copies. */
  copy(source: Uint8Array, start: number, length: number): void {
    const { at } = this;
    const bytes = this.#bytes;
    // A loop is faster than TypedArray.set for short copies.
    if (length > LONG_COPY_BYTES) bytes.set(source.subarray(start, start + length), at);
    else for (let offset = 0; offset < length; offset++) bytes[at + offset] = source[start + offset]!;
    this.at = at + length;
  }

  /** Writes a non-negative safe integer as an SSZ uint64. */
  littleEndian64(value: number): void {
    this.#view.setUint32(this.at, value % TWO_TO_32, true);
    this.#view.setUint32(this.at + 4, value / TWO_TO_32, true);
    this.at += 8;
  }

  /** Writes bytes as hex digits without a prefix. */
  hex(source: Uint8Array, start: number, length: number): void {
    const even = length & ~1;
    const view = this.#view;
    let { at } = this;
    for (let offset = start; offset < start + even; offset += 2, at += 4) {
      view.setUint32(at, HEX_OF_TWO_BYTES[source[offset]! | (source[offset + 1]! << 8)]!, true);
    }
    if (even < length) {
      view.setUint16(at, HEX_OF_TWO_BYTES[source[start + even]!]! & 0xffff, true);
      at += 2;
    }
    this.at = at;
  }

  /** Writes a non-negative safe integer in decimal, and `Infinity` as the largest uint64. */
  uint(value: number): void {
    if (value < 10_000) {
      this.#shortUint(value);
    } else if (value < 1e8) {
      const upper = Math.trunc(value / 10_000);
      this.#shortUint(upper);
      this.#fourDigits(value - upper * 10_000);
    } else if (value === Number.POSITIVE_INFINITY) {
      this.constant(FAR_FUTURE);
    } else {
      const upper = Math.floor(value / 1e8);
      const lower = value - upper * 1e8;
      this.uint(upper);
      const middle = Math.trunc(lower / 10_000);
      this.#fourDigits(middle);
      this.#fourDigits(lower - middle * 10_000);
    }
  }

  /** Writes a uint64 in decimal, passed as two halves. The halves may be signed, as in tree leaves. */
  uint64(lower: number, upper: number): void {
    const high = upper >>> 0;
    const low = lower >>> 0;
    if (high < INEXACT_UPPER_HALF) this.uint(high * TWO_TO_32 + low);
    else if (high === 0xffffffff && low === 0xffffffff) this.constant(FAR_FUTURE);
    else this.text(((BigInt(high) << 32n) | BigInt(low)).toString());
  }

  /** Writes an integer below 10,000 without leading zeros. */
  #shortUint(value: number): void {
    const digits = value < 10 ? 1 : value < 100 ? 2 : value < 1000 ? 3 : 4;
    this.#view.setUint32(this.at, FOUR_DIGITS[value]! >>> ((4 - digits) * 8), true);
    this.at += digits;
  }

  #fourDigits(value: number): void {
    this.#view.setUint32(this.at, FOUR_DIGITS[value]!, true);
    this.at += 4;
  }
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}
