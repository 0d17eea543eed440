const HASH_SIZE = 32;
/** Number of recent blocks that BLOCKHASH can access. */
const WINDOW = 256;
const CAPACITY = 2 * WINDOW;

/** Hashes in a buffer shared by all blocks on a branch. Each block uses the entries up to its own length. */
interface SharedHashes {
  bytes: Uint8Array;
  length: number;
}

/**
 * Hashes of a block and its last 255 ancestors, for BLOCKHASH. Immutable: a block's first child appends to the same
 * buffer, and other children copy the buffer.
 */
export class BlockHashes {
  /** Number of the newest block. */
  readonly #number: bigint;
  readonly #shared: SharedHashes;
  readonly #length: number;

  private constructor(number: bigint, shared: SharedHashes) {
    this.#number = number;
    this.#shared = shared;
    this.#length = shared.length;
  }

  /** Creates an instance from the hashes of consecutive blocks, oldest first. `number` is the last block's number. */
  static of(number: bigint, hashes: readonly Uint8Array[]): BlockHashes {
    const recent = hashes.slice(-WINDOW);
    const bytes = new Uint8Array(CAPACITY * HASH_SIZE);
    for (const [index, hash] of recent.entries()) bytes.set(hash, index * HASH_SIZE);
    return new BlockHashes(number, { bytes, length: recent.length });
  }

  /** Returns a copy with the hash of the next block appended. */
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

  /** Returns all hashes, oldest first. */
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
