import { KEY_LENGTH, type KeyMemory } from "../../bls/key-memory.ts";
import type { PubkeyFile } from "../../db/pubkey-file.ts";
import type { Logger } from "../../log/logger.ts";

/** Number of new keys per write. Keys lost in a crash are decompressed again on the next start. */
const KEYS_PER_WRITE = 256;

/** File cache of decompressed public keys. If the file is unusable, logs this once and disables the cache. */
export class PubkeyFileCache {
  readonly #file: PubkeyFile;
  readonly #logger: Logger;
  /** Number of keys in the file, including pending writes. */
  #count = 0;
  #isUsable = true;
  #written: Promise<void> = Promise.resolve();

  constructor(file: PubkeyFile, logger: Logger) {
    this.#file = file;
    this.#logger = logger;
  }

  /** Reads keys starting at an index. The caller must verify them. */
  async load(keys: Uint8Array, from: number): Promise<void> {
    await this.#attempt("read", () => this.#file.read([keys], from * KEY_LENGTH));
  }

  /** Writes a range of keys. */
  async store(memory: KeyMemory, from: number, to: number): Promise<void> {
    this.#count = Math.max(this.#count, to);
    this.#written = this.#written.then(async () => {
      await this.#attempt("write", () => this.#file.write(memory.pieces(from, to), from * KEY_LENGTH));
    });
    await this.#written;
  }

  /** Marks keys up to `count` as stored, including ranges that are about to be stored. */
  markStored(count: number): void {
    this.#count = count;
  }

  /** Writes new keys once enough have accumulated. */
  async flushIfDue(memory: KeyMemory, size: number): Promise<void> {
    if (size - this.#count >= KEYS_PER_WRITE) await this.store(memory, this.#count, size);
  }

  /** Writes all new keys. */
  async flush(memory: KeyMemory, size: number): Promise<void> {
    if (size > this.#count) await this.store(memory, this.#count, size);
    await this.#written;
  }

  /** Discards the keys from `count` on. */
  truncate(count: number): void {
    this.#count = Math.min(this.#count, count);
  }

  async #attempt<T>(operation: "read" | "write", access: () => Promise<T>): Promise<T | undefined> {
    if (!this.#isUsable) return undefined;
    try {
      return await access();
    } catch (error) {
      this.#isUsable = false;
      this.#logger.warn("Public key cache unusable", { operation, file: this.#file.path, error });
      return undefined;
    }
  }
}
