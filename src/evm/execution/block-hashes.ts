const HASH_SIZE = 32;
/** Range of BLOCKHASH. */
const WINDOW = 256;
const CAPACITY = 2 * WINDOW;

/** Hashes in a buffer shared by all blocks of a branch. A block sees those up to its own length. */
interface SharedHashes {
  bytes: Uint8Array;
  length: number;
}

/**
 * Hashes of a block and its 255 youngest ancestors, for BLOCKHASH. Immutable: blocks of one branch append to the same
 * buffer, a second child of a block copies it.
 */
export class BlockHashes {
  /** Number of the youngest block. */
  readonly #number: bigint;
  readonly #shared: SharedHashes;
  readonly #length: number;

  private constructor(number: bigint, shared: SharedHashes) {
    this.#number = number;
    this.#shared = shared;
    this.#length = shared.length;
  }

  /** Starts with the hashes of consecutive blocks that end with that number, the oldest first. */
  static of(number: bigint, hashes: readonly Uint8Array[]): BlockHashes {
    const recent = hashes.slice(-WINDOW);
    const bytes = new Uint8Array(CAPACITY * HASH_SIZE);
    for (const [index, hash] of recent.entries()) bytes.set(hash, index * HASH_SIZE);
    return new BlockHashes(number, { bytes, length: recent.length });
  }

  /** Returns the hashes with that of the next block. */
  append(hash: Uint8Array): BlockHashes {
    const shared = this.#isShareable() ? this.#shared : this.#copy();
    shared.bytes.set(hash, shared.length * HASH_SIZE);
    shared.length++;
    return new BlockHashes(this.#number + 1n, shared);
  }

  at(number: bigint): Uint8Array | undefined {
    const back = this.#number - number;
    if (back < 0n || back >= WINDOW || back >= this.#length) return undefined;
    const index = this.#length - 1 - Number(back);
    return this.#shared.bytes.slice(index * HASH_SIZE, (index + 1) * HASH_SIZE);
  }

  /** All of them, the oldest first. */
  list(): Uint8Array[] {
    const count = Math.min(this.#length, WINDOW);
    return Array.from({ length: count }, (_, index) => this.at(this.#number - BigInt(count - 1 - index))!);
  }

  #isShareable(): boolean {
    return this.#shared.length === this.#length && this.#length < CAPACITY;
  }

  #copy(): SharedHashes {
    const length = Math.min(this.#length, WINDOW - 1);
    const bytes = new Uint8Array(CAPACITY * HASH_SIZE);
    const start = (this.#length - length) * HASH_SIZE;
    bytes.set(this.#shared.bytes.subarray(start, this.#length * HASH_SIZE));
    return { bytes, length };
  }
}
