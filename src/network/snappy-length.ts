/** A length in the header of raw snappy is an unsigned number of at most 32 bits in groups of seven. */
const MAX_LENGTH_BYTES = 5;

/** What so many bytes may grow to when they do not compress at all: phase0/p2p-interface.md `max_compressed_len`. */
export function maxCompressedLength(length: number): number {
  return 32 + length + Math.floor(length / 6);
}

/** What raw snappy says that it holds, before any memory is spent on it; undefined when there is no such header. */
export function announcedLength(compressed: Uint8Array): number | undefined {
  let length = 0;
  for (let i = 0; i < MAX_LENGTH_BYTES; i++) {
    const byte = compressed[i];
    if (byte === undefined) return undefined;
    length += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return length;
  }
  return undefined;
}
