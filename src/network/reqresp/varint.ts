/** Enough for any unsigned number of 64 bits. */
export const MAX_VARINT_BYTES = 10;
const MAX_UINT64 = (1n << 64n) - 1n;

export function encodeVarint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

/** The number at the start of the bytes; undefined when it does not end within them or has more than 64 bits. */
export function decodeVarint(bytes: Uint8Array): bigint | undefined {
  let value = 0n;
  for (const [index, byte] of bytes.entries()) {
    value |= BigInt(byte & 0x7f) << BigInt(7 * index);
    if (byte < 0x80) return value <= MAX_UINT64 ? value : undefined;
  }
  return undefined;
}
