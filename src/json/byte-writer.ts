const DIGITS = "0123456789abcdef";
const TWO_TO_32 = 2 ** 32;
/** From here on the upper half of a number of 64 bits makes it one that is not exact as a number. */
const INEXACT_UPPER_HALF = 2 ** 21;

const LONG_COPY_BYTES = 64;

/** Little-endian words of the hexadecimal digits of two bytes, by those bytes read as a little-endian number. */
const HEX_OF_TWO_BYTES = new Uint32Array(2 ** 16);
/** Little-endian words of four decimal digits, with leading zeros. */
const FOUR_DIGITS = new Uint32Array(10_000);
for (let pair = 0; pair < HEX_OF_TWO_BYTES.length; pair++) {
  const [low, high] = [pair & 0xff, pair >> 8];
  HEX_OF_TWO_BYTES[pair] = wordOf([low >> 4, low & 15, high >> 4, high & 15]);
}
for (let value = 0; value < FOUR_DIGITS.length; value++) {
  FOUR_DIGITS[value] = wordOf([
    Math.floor(value / 1000),
    Math.floor(value / 100) % 10,
    Math.floor(value / 10) % 10,
    value % 10,
  ]);
}

function wordOf(digits: number[]): number {
  return digits.reduceRight((word, digit) => word * 256 + DIGITS.charCodeAt(digit), 0);
}

/** What one step writes of a constant. */
const STEP_BYTES = 8;

/** How many bytes beyond its end a write may touch. */
export const SPARE_BYTES = STEP_BYTES - 1;

/**
 * ASCII text that is written often, as the numbers of 64 bits that it is made of. They are what the fewest steps write; none of
 * them is NaN, whose bits might change, as that needs a byte above those of ASCII.
 */
export interface Constant {
  readonly steps: Float64Array;
  readonly length: number;
}

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

/** The largest number of 64 bits: in the standard's JSON, an epoch that never comes. */
const FAR_FUTURE = constant("18446744073709551615");

/**
 * Writes into a buffer, mostly ASCII, with nothing in between: no strings, no objects. Nothing is checked against the end of the
 * buffer: whoever writes keeps room, and up to `SPARE_BYTES` more, which the next write overwrites.
 */
export class ByteWriter {
  #bytes: Buffer;
  #view: DataView;
  /** Where the next byte goes. */
  at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }

  get bytes(): Buffer {
    return this.#bytes;
  }

  /** Goes on at the start of another buffer. */
  continueIn(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
    this.at = 0;
  }

  /** What is written so far, without a copy. */
  get written(): Buffer {
    return this.#bytes.subarray(0, this.at);
  }

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

  /** Latin-1 text of any kind; slower than a constant. */
  text(value: string): void {
    this.at += this.#bytes.write(value, this.at, "latin1");
  }

  /** Bytes as they are; meant for a few. */
  copy(source: Uint8Array, start: number, length: number): void {
    const { at } = this;
    const bytes = this.#bytes;
    // For few bytes faster than the copies of the platform.
    if (length > LONG_COPY_BYTES) bytes.set(source.subarray(start, start + length), at);
    else for (let offset = 0; offset < length; offset++) bytes[at + offset] = source[start + offset]!;
    this.at = at + length;
  }

  /** A safe integer that is not negative, as the eight bytes that SSZ has for it. */
  littleEndian64(value: number): void {
    this.#view.setUint32(this.at, value % TWO_TO_32, true);
    this.#view.setUint32(this.at + 4, value / TWO_TO_32, true);
    this.at += 8;
  }

  /** Two digits a byte, without a prefix. */
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

  /** A safe integer that is not negative, in decimal digits; `Infinity` as the largest number of 64 bits. */
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

  /** A number of 64 bits, given by its halves, which may be signed as those of a tree's leaves are. */
  uint64(lower: number, upper: number): void {
    const high = upper >>> 0;
    const low = lower >>> 0;
    if (high < INEXACT_UPPER_HALF) this.uint(high * TWO_TO_32 + low);
    else if (high === 0xffffffff && low === 0xffffffff) this.constant(FAR_FUTURE);
    else this.text(((BigInt(high) << 32n) | BigInt(low)).toString());
  }

  /** Below 10,000, without leading zeros. */
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
