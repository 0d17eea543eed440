import { KEY_LENGTH, type KeyMemory } from "../bls/key-memory.ts";
import type { PubkeyFile } from "../db/pubkey-file.ts";
import type { Logger } from "../log/logger.ts";

/** So many new ones are written at a time. To make these at the next start, because a crash took them away, takes a moment. */
const KEYS_PER_WRITE = 256;

/**
 * The public keys of validators in a file, so that a start need not decompress them all. A file that cannot be used costs that
 * time and nothing else: it is told of once, and left alone.
 */
export class KeptPubkeys {
  readonly #file: PubkeyFile;
  readonly #logger: Logger;
  /** How many keys the file has, or is about to have. */
  #count = 0;
  #isUsable = true;
  #written: Promise<void> = Promise.resolve();

  constructor(file: PubkeyFile, logger: Logger) {
    this.#file = file;
    this.#logger = logger;
  }

  /** Fills a place with the keys that the file has from an index on. Whether they are the right ones is for the caller to find out. */
  async recall(keys: Uint8Array, from: number): Promise<void> {
    await this.#attempt("read", () => this.#file.read([keys], from * KEY_LENGTH));
  }

  /** Writes the keys of a range. */
  async keep(memory: KeyMemory, from: number, to: number): Promise<void> {
    this.#count = Math.max(this.#count, to);
    this.#written = this.#written.then(async () => {
      await this.#attempt("written", () => this.#file.write(memory.pieces(from, to), from * KEY_LENGTH));
    });
    await this.#written;
  }

  /** The keys up to that number are in the file, or are kept a range at a time. */
  noteKept(count: number): void {
    this.#count = count;
  }

  /** Writes what was added since, when it is enough to be worth it. */
  async keepUp(memory: KeyMemory, size: number): Promise<void> {
    if (size - this.#count >= KEYS_PER_WRITE) await this.keep(memory, this.#count, size);
  }

  /** Writes all that was added since. */
  async finish(memory: KeyMemory, size: number): Promise<void> {
    if (size > this.#count) await this.keep(memory, this.#count, size);
    await this.#written;
  }

  /** The keys from that number on are not those of the chain any more. */
  forgetFrom(count: number): void {
    this.#count = Math.min(this.#count, count);
  }

  async #attempt<T>(what: "read" | "written", access: () => Promise<T>): Promise<T | undefined> {
    if (!this.#isUsable) return undefined;
    try {
      return await access();
    } catch (error) {
      this.#isUsable = false;
      const message = `The file of public keys cannot be ${what}, so each start has to make them anew`;
      this.#logger.warn(message, { file: this.#file.path, error });
      return undefined;
    }
  }
}
