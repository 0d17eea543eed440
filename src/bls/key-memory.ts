/** As keys are in a state: the x coordinate of a point, with which of its two y is meant in the leading bits. */
export const COMPRESSED_LENGTH = 48;
/** As the signature library reads and writes them when it is not to compress: x and y. The leading bit is that of a compressed one only. */
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
 * Public keys by the indices of their validators, one after the other in memory that threads share. To make a key of the bytes of one
 * that is not compressed takes 2 µs where to decompress it takes 30, and a key object for each of a million validators takes a
 * multiple of the memory. Those of a state are put here compressed, and completed by and by. One thread writes; the others read.
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

  /** A key, whole or compressed. */
  read(index: number): Uint8Array {
    const place = this.at(index);
    const first = Atomics.load(place, 0);
    if ((first & COMPRESSED_FLAG) === 0) return place;
    // It may be completed by the time that somebody looks at it. Of x, that changes the first byte alone.
    const compressed = place.slice(0, COMPRESSED_LENGTH);
    compressed[0] = first;
    return compressed;
  }

  /** The compressed forms of the keys from one index to before another. */
  compressed(from: number, to: number): Uint8Array {
    const all = new Uint8Array((to - from) * COMPRESSED_LENGTH);
    for (let index = from; index < to; index++) {
      const place = this.at(index);
      const start = (index - from) * COMPRESSED_LENGTH;
      all.set(place.subarray(0, COMPRESSED_LENGTH), start);
      all[start] = firstByteCompressed(place);
    }
    return all;
  }

  /** Makes a compressed key a whole one, unless another one has come to its place. */
  complete(index: number, key: Uint8Array): void {
    const place = this.at(index);
    if (!isCompressed(place) || !isSameKey(place, key)) return;
    place.set(key.subarray(COMPRESSED_LENGTH), COMPRESSED_LENGTH);
    // The first byte says that all is there, so it comes last.
    Atomics.store(place, 0, key[0]!);
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

export function isCompressed(key: Uint8Array): boolean {
  return (Atomics.load(key, 0) & COMPRESSED_FLAG) !== 0;
}

/** Whether two keys are the same, each of them whole or compressed. */
export function isSameKey(key: Uint8Array, other: Uint8Array): boolean {
  for (let i = 1; i < COMPRESSED_LENGTH; i++) if (key[i] !== other[i]) return false;
  return firstByteCompressed(key) === firstByteCompressed(other);
}

function firstByteCompressed(key: Uint8Array): number {
  const first = Atomics.load(key, 0);
  if (first & COMPRESSED_FLAG) return first;
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
