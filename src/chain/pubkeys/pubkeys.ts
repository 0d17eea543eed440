import { availableParallelism } from "node:os";
import type { PublicKey } from "@chainsafe/blst";
import type { ValidatorIndex } from "@lodestar/types";
import { decompressKeys } from "../../bls/decompress-keys.ts";
import { FlatPubkeys } from "../../bls/flat-pubkeys.ts";
import type { KeyMemory } from "../../bls/key-memory.ts";
import type { SharedPubkeys } from "../../bls/signers.ts";
import { WorkerPool } from "../../bls/worker-pool.ts";
import type { PubkeyFile } from "../../db/pubkey-file.ts";
import type { Logger } from "../../log/logger.ts";
import { Progress } from "../../log/progress.ts";
import { PubkeyFileCache } from "./pubkey-file-cache.ts";

/** Below this number, decompression takes less than 1/8 s and needs neither threads nor a file. */
const MANY_KEYS = 4096;

interface PubkeysParts {
  logger: Logger;
  /** File cache; omitted to disable it. */
  file?: PubkeyFile;
  /** Minimum number of keys for using threads and the file cache. */
  manyKeys?: number;
  /** Aborts loading. */
  signal?: AbortSignal;
}

export interface PubkeysSnapshot {
  known: FlatPubkeys;
  size: number;
}

/** Validator list view of a state. */
interface Validators {
  readonly length: number;
  getAllReadonlyValues(): readonly { pubkey: Uint8Array }[];
}

/** Public keys of all validators, shared by all states of a chain. Truncated when the chain is reverted. */
export class Pubkeys implements SharedPubkeys {
  readonly #parts: PubkeysParts;
  readonly #manyKeys: number;
  readonly #fileCache: PubkeyFileCache | undefined;
  #known = new FlatPubkeys();
  #completed: Promise<void> = Promise.resolve();
  readonly #failed = Promise.withResolvers<unknown>();
  #isClosed = false;

  constructor(parts: PubkeysParts) {
    this.#parts = parts;
    this.#manyKeys = parts.manyKeys ?? MANY_KEYS;
    this.#fileCache = parts.file && new PubkeyFileCache(parts.file, parts.logger);
  }

  get size(): number {
    return this.#known.size;
  }

  get memory(): KeyMemory {
    return this.#known.memory;
  }

  get(index: ValidatorIndex): PublicKey | undefined {
    return this.#known.get(index);
  }

  getOrThrow(index: ValidatorIndex): PublicKey {
    return this.#known.getOrThrow(index);
  }

  getIndex(pubkey: Uint8Array): ValidatorIndex | null {
    return this.#known.getIndex(pubkey);
  }

  set(index: ValidatorIndex, pubkey: Uint8Array): void {
    this.#known.set(index, pubkey);
    // The cache reports file errors itself.
    if (this.size >= this.#manyKeys) void this.#fileCache?.flushIfDue(this.memory, this.size);
  }

  /**
   * Loads the keys of a state's validators before the state is used, if there are many. Keys missing from the file are
   * decompressed in the background. A small number of keys is added when the state's caches are built.
   */
  async learn(validators: Validators): Promise<void> {
    if (validators.length - this.size < this.#manyKeys) return;
    await this.#known.addAll(validators.getAllReadonlyValues(), this.#parts.signal);
    this.#fileCache?.markStored(this.size);
    this.#decompressInBackground();
  }

  /** Resolves when decompression has finished or was cancelled. */
  idle(): Promise<void> {
    return this.#completed;
  }

  /** Resolves with the error if decompression fails. A `BadPubkeyError` names the invalid key. */
  get failed(): Promise<unknown> {
    return this.#failed.promise;
  }

  capture(): PubkeysSnapshot {
    return { known: this.#known, size: this.size };
  }

  /** Restores a snapshot of this chain or of another one. */
  restore({ known, size }: PubkeysSnapshot): void {
    known.truncate(size);
    if (known === this.#known) {
      this.#fileCache?.truncate(size);
      return;
    }
    this.#fileCache?.truncate(0);
    this.#known = known;
    // The previous owner has stopped decompressing.
    this.#decompressInBackground();
  }

  /** Stops decompression and writes pending keys to the file. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#completed;
    if (this.size >= this.#manyKeys) await this.#fileCache?.flush(this.memory, this.size);
  }

  #decompressInBackground(): void {
    const known = this.#known;
    const isWanted = () => !this.#isClosed && known === this.#known;
    this.#completed = this.#completed
      .then(() => this.#complete(known, isWanted))
      .catch((error) => this.#failed.resolve(error));
  }

  /** Decompresses the remaining keys on all but one core. */
  async #complete(known: FlatPubkeys, isWanted: () => boolean): Promise<void> {
    const { logger } = this.#parts;
    const { memory, size } = known;
    const progress = new Progress({ message: "Loading validator public keys", logger });
    const threads = Math.max(1, availableParallelism() - 1);
    const workers = new WorkerPool({ threads, isBackground: true, logger });
    const sum = { keys: 0, decompressed: 0, unfit: 0 };
    try {
      await decompressKeys(memory, size, {
        workers,
        loadCached: async (keys, from) => this.#fileCache?.load(keys, from),
        onDecompressed: async ({ from, to, decompressed, unfit }) => {
          sum.keys += to - from;
          sum.decompressed += decompressed;
          sum.unfit += unfit;
          progress.report(to, size);
          if (decompressed > 0 && known === this.#known) await this.#fileCache?.store(memory, from, to);
        },
        isWanted,
      });
    } finally {
      await workers.close();
    }
    if (sum.unfit > 0) {
      logger.notice("Public key cache did not match the validators", {
        file: this.#parts.file?.path,
        replaced: sum.unfit,
      });
    }
    if (sum.keys > 0 && isWanted()) {
      logger.info("Loaded validator public keys", { keys: sum.keys, fromFile: sum.keys - sum.decompressed });
    }
  }
}
