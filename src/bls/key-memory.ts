/** As keys are in a state: the x coordinate of a point, with which of its two y is meant in the leading bits. */
export const COMPRESSED_LENGTH = 48;
/** As the signature library reads and writes them when it is not to compress: x and y. */
export const KEY_LENGTH = 96;
/** Few pieces at millions of keys, and little room for a chain of few validators. */
export const KEYS_PER_CHUNK = 16_384;

const COMPRESSED_FLAG = 0x80;
const INFINITY_FLAG = 0x40;
const LARGER_Y_FLAG = 0x20;
/** The largest y that is the smaller one of a point and its negative: half of the field's modulus. */
const LARGEST_SMALLER_Y = Buffer.from(
  "0d0088f51cbff34d258dd3db21a5d66bb23ba5c279c2895fb39869507b587b120f55ffff58a9ffffdcff7fffffffd555",
  "hex",
);

/**
 * Public keys by the indices of their validators, not compressed, one after the other in memory that threads share. To make a
 * key of these bytes takes 2 µs where to decompress it takes 30, and a key object for each of a million validators takes a
 * multiple of the memory.
 */
export class KeyMemory {
  readonly #chunks: SharedArrayBuffer[];
  readonly #views: Uint8Array[];

  constructor(chunks: readonly SharedArrayBuffer[] = []) {
    this.#chunks = [...chunks];
    this.#views = chunks.map((chunk) => new Uint8Array(chunk));
  }

  get chunks(): readonly SharedArrayBuffer[] {
    return this.#chunks;
  }

  /** Makes room for that many keys. */
  reserve(count: number): void {
    while (this.#chunks.length * KEYS_PER_CHUNK < count) {
      const chunk = new SharedArrayBuffer(KEYS_PER_CHUNK * KEY_LENGTH);
      this.#chunks.push(chunk);
      this.#views.push(new Uint8Array(chunk));
    }
  }

  /** The place of a key, for which there must be room. */
  at(index: number): Uint8Array {
    return this.#view(index, index + 1);
  }

  /** The places of the keys from one index to before another, as many at a time as lie together. */
  *pieces(from: number, to: number): Generator<Uint8Array> {
    for (let start = from; start < to; ) {
      const end = Math.min(to, (Math.floor(start / KEYS_PER_CHUNK) + 1) * KEYS_PER_CHUNK);
      yield this.#view(start, end);
      start = end;
    }
  }

  #view(from: number, to: number): Uint8Array {
    const chunk = Math.floor(from / KEYS_PER_CHUNK);
    const start = (from - chunk * KEYS_PER_CHUNK) * KEY_LENGTH;
    return this.#views[chunk]!.subarray(start, start + (to - from) * KEY_LENGTH);
  }
}

/** Whether a key is the one of a compressed form. */
export function isSameKey(key: Uint8Array, compressed: Uint8Array): boolean {
  for (let i = 1; i < COMPRESSED_LENGTH; i++) if (key[i] !== compressed[i]) return false;
  return compressed.length === COMPRESSED_LENGTH && compressed[0] === firstByteCompressed(key);
}

function firstByteCompressed(key: Uint8Array): number {
  const first = key[0]!;
  if (first & INFINITY_FLAG) return COMPRESSED_FLAG | INFINITY_FLAG;
  return COMPRESSED_FLAG | first | (hasLargerY(key) ? LARGER_Y_FLAG : 0);
}

function hasLargerY(key: Uint8Array): boolean {
  for (let i = 0; i < COMPRESSED_LENGTH; i++) {
    const difference = key[COMPRESSED_LENGTH + i]! - LARGEST_SMALLER_Y[i]!;
    if (difference !== 0) return difference > 0;
  }
  return false;
}
