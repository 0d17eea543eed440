/** Raw snappy starts with the uncompressed length as a 32-bit varint. */
const MAX_LENGTH_BYTES = 5;

/** `max_compressed_len` from phase0/p2p-interface.md. */
export function maxCompressedLength(length: number): number {
  return 32 + length + Math.floor(length / 6);
}

/** Reads the uncompressed length from the header of raw snappy. Returns undefined if the header is invalid. */
export function uncompressedLength(compressed: Uint8Array): number | undefined {
  let length = 0;
  for (let i = 0; i < MAX_LENGTH_BYTES; i++) {
    const byte = compressed[i];
    if (byte === undefined) return undefined;
    length += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return length;
  }
  return undefined;
}
