/** Recursive Length Prefix encoding (Yellow Paper, appendix B). */

/** A decoded item: bytes, or a list of items. */
export type RlpItem = Uint8Array | RlpItem[];

const SHORT_STRING = 0x80;
const LONG_STRING = 0xb7;
const SHORT_LIST = 0xc0;
const LONG_LIST = 0xf7;
const LONGEST_SHORT = 55;

export const RLP_EMPTY_BYTES: Uint8Array = Uint8Array.of(SHORT_STRING);
export const RLP_EMPTY_LIST: Uint8Array = Uint8Array.of(SHORT_LIST);

export class RlpError extends Error {}

export function encodeBytes(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 1 && bytes[0]! < SHORT_STRING) return bytes;
  const encoded = withPrefix(SHORT_STRING, bytes.length);
  encoded.set(bytes, encoded.length - bytes.length);
  return encoded;
}

/** Encodes a list whose items are already encoded. */
export function encodeList(items: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const item of items) length += item.length;
  const encoded = withPrefix(SHORT_LIST, length);
  let offset = encoded.length - length;
  for (const item of items) {
    encoded.set(item, offset);
    offset += item.length;
  }
  return encoded;
}

/** Encodes an item recursively. */
export function encode(item: RlpItem): Uint8Array {
  return Array.isArray(item) ? encodeList(item.map(encode)) : encodeBytes(item);
}

/** Encodes an unsigned integer as big-endian bytes without leading zeros. */
export function encodeNumber(value: bigint | number): Uint8Array {
  return encodeBytes(numberToBytes(value));
}

export function numberToBytes(value: bigint | number): Uint8Array {
  if (value <= 0) return new Uint8Array(0);
  if (value < SHORT_STRING) return Uint8Array.of(Number(value));
  const hex = value.toString(16);
  return new Uint8Array(Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex"));
}

/** Reads big-endian bytes; no bytes mean zero. */
export function bytesToBigint(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n;
  return BigInt(`0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex")}`);
}

/** Returns the encoded size of a list whose encoded items have `length` bytes. */
export function encodedListSize(length: number): number {
  return prefixSize(length) + length;
}

/** Decodes exactly one item. Byte strings are returned as views of the input. */
export function decode(bytes: Uint8Array): RlpItem {
  const [item, end] = decodeAt(bytes, 0);
  if (end !== bytes.length) throw new RlpError(`RLP has ${bytes.length - end} bytes after its end.`);
  return item;
}

export function asList(item: RlpItem | undefined): RlpItem[] {
  if (!Array.isArray(item)) throw new RlpError("RLP has a byte string where a list belongs.");
  return item;
}

export function asBytes(item: RlpItem | undefined): Uint8Array {
  if (!(item instanceof Uint8Array)) throw new RlpError("RLP has a list where a byte string belongs.");
  return item;
}

export const asBigint = (item: RlpItem | undefined): bigint => bytesToBigint(asBytes(item));

/**
 * Returns the start and end of the content of the item at the given position. The end is also the position of the next
 * item.
 */
export function contentAt(bytes: Uint8Array, at: number): [start: number, end: number] {
  const prefix = bytes[at];
  if (prefix === undefined) throw new RlpError("RLP ends too early.");
  if (prefix < SHORT_STRING) return [at, at + 1];
  return prefix < SHORT_LIST
    ? bodyOf(bytes, at, prefix, SHORT_STRING, LONG_STRING)
    : bodyOf(bytes, at, prefix, SHORT_LIST, LONG_LIST);
}

function prefixSize(length: number): number {
  if (length <= LONGEST_SHORT) return 1;
  return 1 + Math.ceil((32 - Math.clz32(length)) / 8);
}

function withPrefix(offset: number, length: number): Uint8Array {
  const size = prefixSize(length);
  const encoded = new Uint8Array(size + length);
  if (size === 1) {
    encoded[0] = offset + length;
    return encoded;
  }
  encoded[0] = offset + LONGEST_SHORT + size - 1;
  for (let at = size - 1, rest = length; at > 0; at--, rest >>>= 8) encoded[at] = rest & 0xff;
  return encoded;
}

function decodeAt(bytes: Uint8Array, at: number): [item: RlpItem, end: number] {
  const prefix = bytes[at];
  if (prefix === undefined) throw new RlpError("RLP ends too early.");
  if (prefix < SHORT_STRING) return [bytes.subarray(at, at + 1), at + 1];
  if (prefix < SHORT_LIST) {
    const [start, end] = bodyOf(bytes, at, prefix, SHORT_STRING, LONG_STRING);
    if (end - start === 1 && bytes[start]! < SHORT_STRING) throw new RlpError("RLP has a prefix before a single byte.");
    return [bytes.subarray(start, end), end];
  }
  const [start, end] = bodyOf(bytes, at, prefix, SHORT_LIST, LONG_LIST);
  const items: RlpItem[] = [];
  for (let next = start; next < end; ) {
    const [item, after] = decodeAt(bytes, next);
    if (after > end) throw new RlpError("RLP has an item that is longer than its list.");
    items.push(item);
    next = after;
  }
  return [items, end];
}

function bodyOf(
  bytes: Uint8Array,
  at: number,
  prefix: number,
  short: number,
  long: number,
): [start: number, end: number] {
  const lengthSize = prefix > long ? prefix - long : 0;
  const start = at + 1 + lengthSize;
  let length = lengthSize === 0 ? prefix - short : 0;
  for (let i = at + 1; i < start; i++) length = length * 256 + (bytes[i] ?? 0);
  if (lengthSize > 0 && (length <= LONGEST_SHORT || bytes[at + 1] === 0)) {
    throw new RlpError("RLP has a length that is not in its shortest form.");
  }
  if (start + length > bytes.length) throw new RlpError("RLP ends too early.");
  return [start, start + length];
}
