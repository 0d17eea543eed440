/** Compressed G1 point: x with flags in the leading bits. */
export const COMPRESSED_LENGTH = 48;
/** Uncompressed G1 point: x and y. The compression flag is not set. */
export const KEY_LENGTH = 96;
/** Keeps the number of chunks small for millions of keys, while wasting little on small chains. */
export const KEYS_PER_CHUNK = 16_384;

const COMPRESSED_FLAG = 0x80;
const INFINITY_FLAG = 0x40;
const LARGER_Y_FLAG = 0x20;
/** Half of the field modulus: the largest y that is smaller than its negative. */
const LARGEST_SMALLER_Y = Buffer.from(
  "0d0088f51cbff34d258dd3db21a5d66bb23ba5c279c2895fb39869507b587b120f55ffff58a9ffffdcff7fffffffd555",
  "hex",
);

/**
 * Public keys in shared memory, by validator index. Reading an uncompressed key takes 2 µs and decompressing a key 30
 * µs; a million key objects would take several times as much memory. Keys are added compressed and decompressed in the
 * background. One thread writes; the others read.
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

  /** Allocates memory for `count` keys. */
  reserve(count: number): void {
    while (this.#chunks.length * KEYS_PER_CHUNK < count) {
      const chunk = new SharedArrayBuffer(KEYS_PER_CHUNK * KEY_LENGTH);
      this.#chunks.push(chunk);
      this.#views.push(new Uint8Array(chunk));
    }
  }

  /** Returns a view of a key's memory, which must be allocated. */
  at(index: number): Uint8Array {
    return this.#view(index, index + 1);
  }

  /** Returns a key, compressed or not. */
  read(index: number): Uint8Array {
    const key = this.at(index);
    const first = Atomics.load(key, 0);
    if ((first & COMPRESSED_FLAG) === 0) return key;
    // Copied, because the key may be decompressed concurrently. Decompression changes only the first byte of x.
    const compressed = key.slice(0, COMPRESSED_LENGTH);
    compressed[0] = first;
    return compressed;
  }

  /** Returns the compressed keys in [from, to). */
  compressed(from: number, to: number): Uint8Array {
    const all = new Uint8Array((to - from) * COMPRESSED_LENGTH);
    for (let index = from; index < to; index++) {
      const key = this.at(index);
      const start = (index - from) * COMPRESSED_LENGTH;
      all.set(key.subarray(0, COMPRESSED_LENGTH), start);
      all[start] = firstByteCompressed(key);
    }
    return all;
  }

  /** Replaces a compressed key with its uncompressed form, unless the key has changed. */
  setDecompressed(index: number, key: Uint8Array): void {
    const stored = this.at(index);
    if (!isCompressed(stored) || !isSameKey(stored, key)) return;
    stored.set(key.subarray(COMPRESSED_LENGTH), COMPRESSED_LENGTH);
    // The first byte marks the key as complete, so it is written last.
    Atomics.store(stored, 0, key[0]!);
  }

  /** Yields views of the keys in [from, to), one per contiguous chunk. */
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

/** Compares two keys, each compressed or not. */
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
