/**
 * How bytes are made of others: operations one after the other, each a byte that says which, a length as a varint
 * (LEB128), and what it brings along. Those that read the other bytes, the base, do it from where the one before ended;
 * behind their end there are zeros. docs/decisions/states-as-patches.md describes them.
 */
const Operation = {
  /** The next bytes of the base. */
  copy: 0,
  /** The next bytes of the base are left out. */
  skip: 1,
  /** The bytes that follow. */
  raw: 2,
  /** The next bytes of the base, each combined by exclusive or with one of those that follow. */
  xor: 3,
  /** The next numbers of the base, of eight bytes each, with what is added to them: see `addNumbers`. */
  add: 4,
} as const;

type OperationCode = (typeof Operation)[keyof typeof Operation];

/** What an operation brings along at the most, so that a reader need not hold more of a patch than that. */
export const MAX_OPERATION_BYTES = 2 ** 19;
const NUMBER_BYTES = 8;
const MAX_VARINT_BYTES = 8;
const FIRST_BUFFER_BYTES = 2 ** 16;

/** Writes a patch. Copies that follow each other are joined. */
export class PatchWriter {
  #buffer = new Uint8Array(FIRST_BUFFER_BYTES);
  #length = 0;
  #copied = 0;

  /** How many bytes wait to be taken. */
  get length(): number {
    return this.#length;
  }

  copy(length: number): void {
    this.#copied += length;
  }

  skip(length: number): void {
    if (length > 0) this.#begin(Operation.skip, length);
  }

  /** Gives the place where the bytes are to be written at once. */
  raw(length: number): Uint8Array {
    return this.#place(Operation.raw, length);
  }

  /** The same; they are to be those of the base combined with the new ones. */
  xor(length: number): Uint8Array {
    return this.#place(Operation.xor, length);
  }

  /** Makes numbers of those of the base. Without a base, whose bytes are all zero then, they are stored as they are. */
  numbers(numbers: Uint8Array, base: Uint8Array | undefined): void {
    subtractNumbers(numbers, base, this.#place(Operation.add, numbers.length));
  }

  /** All that was written since this was called the last time. */
  take(): Uint8Array {
    this.#writeCopied();
    const taken = this.#buffer.slice(0, this.#length);
    this.#length = 0;
    return taken;
  }

  #place(operation: OperationCode, length: number): Uint8Array {
    if (length > MAX_OPERATION_BYTES) throw new Error(`An operation of a patch cannot bring ${length} bytes along.`);
    this.#begin(operation, length);
    this.#reserve(length);
    const from = this.#length;
    this.#length += length;
    return this.#buffer.subarray(from, this.#length);
  }

  #begin(operation: OperationCode, length: number): void {
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
    let left = length;
    for (; left >= 0x80; left = Math.floor(left / 0x80)) this.#buffer[this.#length++] = (left % 0x80) | 0x80;
    this.#buffer[this.#length++] = left;
  }

  #reserve(length: number): void {
    const needed = this.#length + length;
    if (needed <= this.#buffer.length) return;
    const grown = new Uint8Array(Math.max(needed, 2 * this.#buffer.length));
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
  }
}

/** Applies a patch that comes in pieces. Throws when it is not one, or does not fit. */
export class PatchReader {
  readonly #base: Uint8Array;
  readonly #made: Uint8Array;
  #baseAt = 0;
  #madeAt = 0;
  /** The beginning of an operation whose end has not come yet. */
  #rest = new Uint8Array();

  constructor(base: Uint8Array, madeLength: number) {
    this.#base = base;
    this.#made = new Uint8Array(madeLength);
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

  /** The bytes that the patch makes of the base. */
  end(): Uint8Array {
    if (this.#rest.length > 0 || this.#madeAt !== this.#made.length) throw new Error("a patch is cut short");
    return this.#made;
  }

  /** Tells where the next operation begins; that is where this one does, as long as it is not there wholly. */
  #applyOne(bytes: Uint8Array, from: number): number {
    let at = from + 1;
    let length = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = bytes[at++];
      if (byte === undefined) return from;
      if (at - from > MAX_VARINT_BYTES) throw new Error("a patch has a length that is none");
      length += (byte & 0x7f) * factor;
      if (byte < 0x80) break;
    }
    const operation = bytes[from];
    if (operation === Operation.skip) {
      this.#baseAt += length;
      return at;
    }
    if (this.#madeAt + length > this.#made.length) throw new Error("a patch makes too many bytes");
    if (operation === Operation.copy) {
      this.#made.set(this.#nextOfBase(length), this.#madeAt);
      this.#madeAt += length;
      return at;
    }
    if (length > MAX_OPERATION_BYTES) throw new Error("a patch has an operation that is too long");
    if (at + length > bytes.length) return from;
    const brought = bytes.subarray(at, at + length);
    const made = this.#made.subarray(this.#madeAt, this.#madeAt + length);
    this.#madeAt += length;
    switch (operation) {
      case Operation.raw:
        made.set(brought);
        break;
      case Operation.xor:
        made.set(this.#nextOfBase(length));
        combine(made, brought);
        break;
      case Operation.add:
        made.set(this.#nextOfBase(length));
        addNumbers(made, brought);
        break;
      default:
        throw new Error(`a patch has the operation ${operation}, which is none`);
    }
    return at + length;
  }

  #nextOfBase(length: number): Uint8Array {
    const from = this.#baseAt;
    this.#baseAt += length;
    return this.#base.subarray(from, this.#baseAt);
  }
}

/** Puts into each byte what it is by exclusive or with the other one. */
export function combine(bytes: Uint8Array, others: Uint8Array): void {
  for (let at = 0; at < bytes.length; at++) bytes[at]! ^= others[at]!;
}

/**
 * The differences of numbers, modulo 2^64, with the sign in the lowest bit, so that small ones have but low bytes. First come
 * the lowest bytes of all, then the next, and so on: bytes of one place are much alike, which compresses well.
 */
function subtractNumbers(numbers: Uint8Array, base: Uint8Array | undefined, differences: Uint8Array): void {
  const count = numbers.length / NUMBER_BYTES;
  const own = viewOf(numbers);
  const others = base && viewOf(base);
  for (let index = 0, at = 0; index < count; index++, at += NUMBER_BYTES) {
    const ownLow = own.getUint32(at, true);
    const otherLow = others ? others.getUint32(at, true) : 0;
    const low = (ownLow - otherLow) | 0;
    const borrowed = ownLow < otherLow ? 1 : 0;
    const high = (own.getUint32(at + 4, true) - (others ? others.getUint32(at + 4, true) : 0) - borrowed) | 0;
    const sign = high >> 31;
    const codedLow = (low << 1) ^ sign;
    const codedHigh = ((high << 1) | (low >>> 31)) ^ sign;
    for (let place = 0; place < 4; place++) {
      differences[place * count + index] = codedLow >>> (8 * place);
      differences[(place + 4) * count + index] = codedHigh >>> (8 * place);
    }
  }
}

/** The other way round. */
function addNumbers(numbers: Uint8Array, differences: Uint8Array): void {
  const count = numbers.length / NUMBER_BYTES;
  if (!Number.isInteger(count)) throw new Error("a patch adds to a part of a number");
  const own = viewOf(numbers);
  for (let index = 0, at = 0; index < count; index++, at += NUMBER_BYTES) {
    let codedLow = 0;
    let codedHigh = 0;
    for (let place = 0; place < 4; place++) {
      codedLow |= differences[place * count + index]! << (8 * place);
      codedHigh |= differences[(place + 4) * count + index]! << (8 * place);
    }
    const sign = -(codedLow & 1);
    const low = ((codedLow >>> 1) | (codedHigh << 31)) ^ sign;
    const high = (codedHigh >>> 1) ^ sign;
    const sum = own.getUint32(at, true) + (low >>> 0);
    own.setUint32(at, sum, true);
    own.setUint32(at + 4, own.getUint32(at + 4, true) + high + (sum > 0xffff_ffff ? 1 : 0), true);
  }
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => new DataView(buffer, byteOffset, byteLength);

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
