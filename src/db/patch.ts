/**
 * Binary patch format: a sequence of operations, each an opcode byte, a LEB128 length and its data. Operations that
 * read the base continue where the previous one stopped. Past the end of the base, zeros are read. See
 * docs/decisions/states-as-patches.md.
 */
const Operation = {
  /** Copy bytes from the base. */
  copy: 0,
  /** Skip bytes of the base. */
  skip: 1,
  /** Literal bytes. */
  raw: 2,
  /** Base bytes XORed with the data. */
  xor: 3,
  /** 64-bit base integers plus encoded differences; see `addNumbers`. */
  add: 4,
} as const;

type OperationCode = (typeof Operation)[keyof typeof Operation];

/** Maximum number of data bytes per operation; bounds the reader's buffer. */
export const MAX_OPERATION_BYTES = 2 ** 19;
const NUMBER_BYTES = 8;
const MAX_VARINT_BYTES = 8;
const FIRST_BUFFER_BYTES = 2 ** 16;

/** Encodes a patch. Consecutive copies are merged. */
export class PatchWriter {
  #buffer = new Uint8Array(FIRST_BUFFER_BYTES);
  #length = 0;
  #copied = 0;

  /** Number of encoded bytes that have not been taken yet. */
  get length(): number {
    return this.#length;
  }

  copy(length: number): void {
    this.#copied += length;
  }

  skip(length: number): void {
    if (length > 0) this.#startOperation(Operation.skip, length);
  }

  /** Returns the buffer to fill with the literal bytes before the next call. */
  raw(length: number): Uint8Array {
    return this.#allocate(Operation.raw, length);
  }

  /** Returns the buffer to fill with base XOR new bytes before the next call. */
  xor(length: number): Uint8Array {
    return this.#allocate(Operation.xor, length);
  }

  /** Encodes 64-bit integers as differences from the base. A missing base counts as all zeros. */
  numbers(numbers: Uint8Array, base: Uint8Array | undefined): void {
    subtractNumbers(numbers, base, this.#allocate(Operation.add, numbers.length));
  }

  /** Returns the bytes encoded since the last call. */
  take(): Uint8Array {
    this.#writeCopied();
    const bytes = this.#buffer.slice(0, this.#length);
    this.#length = 0;
    return bytes;
  }

  #allocate(operation: OperationCode, length: number): Uint8Array {
    if (length > MAX_OPERATION_BYTES) {
      throw new Error(`A patch operation is limited to ${MAX_OPERATION_BYTES} bytes, got ${length}.`);
    }
    this.#startOperation(operation, length);
    this.#reserve(length);
    const from = this.#length;
    this.#length += length;
    return this.#buffer.subarray(from, this.#length);
  }

  #startOperation(operation: OperationCode, length: number): void {
    this.#writeCopied();
    this.#writeHeader(operation, length);
  }

  #writeCopied(): void {
    const length = this.#copied;
    this.#copied = 0;
    if (length > 0) this.#writeHeader(Operation.copy, length);
  }

  #writeHeader(operation: OperationCode, length: number): void {
    this.#reserve(1 + MAX_VARINT_BYTES);
    this.#buffer[this.#length++] = operation;
    let remaining = length;
    for (; remaining >= 0x80; remaining = Math.floor(remaining / 0x80))
      this.#buffer[this.#length++] = (remaining % 0x80) | 0x80;
    this.#buffer[this.#length++] = remaining;
  }

  #reserve(length: number): void {
    const needed = this.#length + length;
    if (needed <= this.#buffer.length) return;
    const grown = new Uint8Array(Math.max(needed, 2 * this.#buffer.length));
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
  }
}

/** Streaming decoder that applies a patch. Throws if the patch is invalid or does not match the given sizes. */
export class PatchReader {
  readonly #base: Uint8Array;
  readonly #target: Uint8Array;
  #baseAt = 0;
  #targetAt = 0;
  /** Bytes of an operation that is still incomplete. */
  #rest = new Uint8Array();

  constructor(base: Uint8Array, targetLength: number) {
    this.#base = base;
    this.#target = new Uint8Array(targetLength);
  }

  add(piece: Uint8Array): void {
    const bytes = this.#rest.length > 0 ? joined(this.#rest, piece) : piece;
    let at = 0;
    for (;;) {
      const next = this.#applyOne(bytes, at);
      if (next === at) break;
      at = next;
    }
    this.#rest = bytes.slice(at);
  }

  /** Returns the patched bytes. */
  end(): Uint8Array {
    if (this.#rest.length > 0 || this.#targetAt !== this.#target.length) throw new Error("truncated patch");
    return this.#target;
  }

  /** Applies one operation and returns the offset of the next; returns `from` if the operation is incomplete. */
  #applyOne(bytes: Uint8Array, from: number): number {
    let at = from + 1;
    let length = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = bytes[at++];
      if (byte === undefined) return from;
      if (at - from > MAX_VARINT_BYTES) throw new Error("invalid length in patch");
      length += (byte & 0x7f) * factor;
      if (byte < 0x80) break;
    }
    const operation = bytes[from];
    if (operation === Operation.skip) {
      this.#baseAt += length;
      return at;
    }
    if (this.#targetAt + length > this.#target.length) throw new Error("patch output is too long");
    if (operation === Operation.copy) {
      this.#target.set(this.#nextOfBase(length), this.#targetAt);
      this.#targetAt += length;
      return at;
    }
    if (length > MAX_OPERATION_BYTES) throw new Error("patch operation is too long");
    if (at + length > bytes.length) return from;
    const brought = bytes.subarray(at, at + length);
    const target = this.#target.subarray(this.#targetAt, this.#targetAt + length);
    this.#targetAt += length;
    switch (operation) {
      case Operation.raw:
        target.set(brought);
        break;
      case Operation.xor:
        target.set(this.#nextOfBase(length));
        xorInto(target, brought);
        break;
      case Operation.add:
        target.set(this.#nextOfBase(length));
        addNumbers(target, brought);
        break;
      default:
        throw new Error(`unknown patch operation ${operation}`);
    }
    return at + length;
  }

  #nextOfBase(length: number): Uint8Array {
    const from = this.#baseAt;
    this.#baseAt += length;
    return this.#base.subarray(from, this.#baseAt);
  }
}

/** XORs `others` into `bytes`. */
export function xorInto(bytes: Uint8Array, others: Uint8Array): void {
  for (let at = 0; at < bytes.length; at++) bytes[at]! ^= others[at]!;
}

/**
 * Writes zigzag-encoded differences modulo 2^64, so that small differences occupy only low bytes. Bytes are grouped by
 * significance, lowest first, because similar bytes compress well.
 */
function subtractNumbers(numbers: Uint8Array, base: Uint8Array | undefined, differences: Uint8Array): void {
  const count = numbers.length / NUMBER_BYTES;
  const numberView = viewOf(numbers);
  const baseView = base && viewOf(base);
  for (let index = 0, at = 0; index < count; index++, at += NUMBER_BYTES) {
    const numberLow = numberView.getUint32(at, true);
    const baseLow = baseView ? baseView.getUint32(at, true) : 0;
    const low = (numberLow - baseLow) | 0;
    const borrowed = numberLow < baseLow ? 1 : 0;
    const high =
      (numberView.getUint32(at + 4, true) - (baseView ? baseView.getUint32(at + 4, true) : 0) - borrowed) | 0;
    const sign = high >> 31;
    const codedLow = (low << 1) ^ sign;
    const codedHigh = ((high << 1) | (low >>> 31)) ^ sign;
    for (let significance = 0; significance < 4; significance++) {
      differences[significance * count + index] = codedLow >>> (8 * significance);
      differences[(significance + 4) * count + index] = codedHigh >>> (8 * significance);
    }
  }
}

/** Inverse of `subtractNumbers`. */
function addNumbers(numbers: Uint8Array, differences: Uint8Array): void {
  const count = numbers.length / NUMBER_BYTES;
  if (!Number.isInteger(count)) throw new Error("patch adds to an incomplete integer");
  const numberView = viewOf(numbers);
  for (let index = 0, at = 0; index < count; index++, at += NUMBER_BYTES) {
    let codedLow = 0;
    let codedHigh = 0;
    for (let significance = 0; significance < 4; significance++) {
      codedLow |= differences[significance * count + index]! << (8 * significance);
      codedHigh |= differences[(significance + 4) * count + index]! << (8 * significance);
    }
    const sign = -(codedLow & 1);
    const low = ((codedLow >>> 1) | (codedHigh << 31)) ^ sign;
    const high = (codedHigh >>> 1) ^ sign;
    const sum = numberView.getUint32(at, true) + (low >>> 0);
    numberView.setUint32(at, sum, true);
    numberView.setUint32(at + 4, numberView.getUint32(at + 4, true) + high + (sum > 0xffff_ffff ? 1 : 0), true);
  }
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => new DataView(buffer, byteOffset, byteLength);

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
