import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { DatabaseCorruptError, DatabaseInUseError, DatabaseOpenError, DatabaseWriteError } from "./errors.ts";

type LevelDb = ClassicLevel<Uint8Array, Uint8Array>;

type Operation = { type: "put"; key: Uint8Array; value: Uint8Array } | { type: "del"; key: Uint8Array };

/** Bounds are keys inside the bucket; ranges go over keys in byte order. */
interface KeyRange {
  gt?: Uint8Array;
  gte?: Uint8Array;
  lt?: Uint8Array;
  lte?: Uint8Array;
  reverse?: boolean;
  limit?: number;
}

export interface StoreOptions {
  /** Whether a write is on the disk itself, not only with the operating system, when it is reported done. */
  sync: boolean;
}

/** Writes that come to be all together or not at all. */
export class WriteBatch {
  readonly #operations: Operation[] = [];
  readonly #commit: (operations: Operation[]) => Promise<void>;
  #written = false;

  constructor(commit: (operations: Operation[]) => Promise<void>) {
    this.#commit = commit;
  }

  /** Of several writes to one key, the last counts. */
  put(bucket: number, key: Uint8Array, value: Uint8Array): void {
    this.#operations.push({ type: "put", key: prefixed(bucket, key), value });
  }

  delete(bucket: number, key: Uint8Array): void {
    this.#operations.push({ type: "del", key: prefixed(bucket, key) });
  }

  async write(): Promise<void> {
    if (this.#written) throw new Error("This batch was written before; a batch can be written once.");
    this.#written = true;
    await this.#commit(this.#operations);
  }
}

/** LevelDB with its keys parted into buckets by a leading byte. */
export class LevelStore {
  readonly path: string;
  readonly #level: LevelDb;
  readonly #sync: boolean;
  readonly #failed = Promise.withResolvers<DatabaseWriteError>();
  #failure: DatabaseWriteError | undefined;
  #lastWrite: Promise<unknown> = Promise.resolve();

  private constructor(level: LevelDb, path: string, sync: boolean) {
    this.#level = level;
    this.path = path;
    this.#sync = sync;
  }

  static async open(path: string, { sync }: StoreOptions): Promise<LevelStore> {
    const level: LevelDb = new ClassicLevel(path, { keyEncoding: "view", valueEncoding: "view" });
    try {
      await level.open();
    } catch (error) {
      throw openFailure(path, error);
    }
    return new LevelStore(level, path, sync);
  }

  /**
   * Throws a `DatabaseInUseError` when another process has the database open. To find out, LevelDB is asked for what it
   * refuses in any case, but only after it has looked for the lock.
   */
  static async requireUnused(path: string): Promise<void> {
    const level: LevelDb = new ClassicLevel(path, { createIfMissing: false, errorIfExists: true });
    const refusal: unknown = await level.open().catch((error: unknown) => openFailure(path, error));
    if (refusal instanceof DatabaseInUseError) throw refusal;
  }

  /** Resolves when a write has failed, after which there are no more. */
  get failed(): Promise<DatabaseWriteError> {
    return this.#failed.promise;
  }

  get failure(): DatabaseWriteError | undefined {
    return this.#failure;
  }

  async get(bucket: number, key: Uint8Array): Promise<Uint8Array | null> {
    const value = await this.#level.get(prefixed(bucket, key)).catch((error) => this.#rethrow(error));
    return value === undefined ? null : plainBytes(value);
  }

  has(bucket: number, key: Uint8Array): Promise<boolean> {
    return this.#level.has(prefixed(bucket, key)).catch((error) => this.#rethrow(error));
  }

  async isEmpty(): Promise<boolean> {
    for await (const _ of this.#level.keys({ limit: 1 })) return false;
    return true;
  }

  async *entries(bucket: number, range: KeyRange = {}): AsyncGenerator<[key: Uint8Array, value: Uint8Array]> {
    try {
      for await (const [key, value] of this.#level.iterator(levelRange(bucket, range))) {
        yield [plainBytes(key.subarray(1)), plainBytes(value)];
      }
    } catch (error) {
      this.#rethrow(error);
    }
  }

  async *keys(bucket: number, range: KeyRange = {}): AsyncGenerator<Uint8Array> {
    try {
      for await (const key of this.#level.keys(levelRange(bucket, range))) yield plainBytes(key.subarray(1));
    } catch (error) {
      this.#rethrow(error);
    }
  }

  batch(): WriteBatch {
    return new WriteBatch((operations) => this.#write(() => this.#level.batch(operations, { sync: this.#sync })));
  }

  /** What the files of the store take. */
  async diskBytes(): Promise<number> {
    const sizes = await Promise.all((await readdir(this.path)).map((name) => sizeOf(join(this.path, name))));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Deletes whatever is in a bucket; not atomic. */
  clear(bucket: number): Promise<void> {
    return this.#write(() => this.#level.clear(levelRange(bucket, {})));
  }

  /** Gives the room back that deleted entries of a bucket still take on the disk, which may take long. */
  compact(bucket: number): Promise<void> {
    return this.#level
      .compactRange(Uint8Array.of(bucket), Uint8Array.of(bucket + 1))
      .catch((error) => this.#rethrow(error));
  }

  /** Waits for the writes and reads under way. */
  close(): Promise<void> {
    return this.#level.close();
  }

  /**
   * One at a time, and none after one that failed: what LevelDB appends to a log after a record that was cut short can be
   * unreadable at the next start.
   */
  #write(write: () => Promise<void>): Promise<void> {
    const written = this.#lastWrite.then(async () => {
      if (this.#failure) throw this.#failure;
      try {
        await write();
      } catch (error) {
        throw this.#asFailure(error);
      }
    });
    this.#lastWrite = written.catch(() => {});
    return written;
  }

  #asFailure(error: unknown): unknown {
    if (errorCode(error) === "LEVEL_DATABASE_NOT_OPEN") return error;
    this.#failure = new DatabaseWriteError(this.path, error);
    this.#failed.resolve(this.#failure);
    return this.#failure;
  }

  #rethrow(error: unknown): never {
    if (errorCode(error) === "LEVEL_CORRUPTION") throw new DatabaseCorruptError(this.path, error);
    throw error;
  }
}

/** LevelDB may have deleted the file since it was listed. */
async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return 0;
    throw error;
  }
}

function openFailure(path: string, error: unknown): Error {
  // LevelDB's own reason is the cause of a general "not open".
  const reason = error instanceof Error && error.cause !== undefined ? error.cause : error;
  switch (errorCode(reason)) {
    case "LEVEL_LOCKED":
      return new DatabaseInUseError(path, reason);
    case "LEVEL_CORRUPTION":
      return new DatabaseCorruptError(path, reason);
    case "LEVEL_IO_ERROR":
      // LevelDB creates what a new database needs, so a file it misses is one that an existing database has lost.
      return /No such file/i.test(String(reason))
        ? new DatabaseCorruptError(path, reason)
        : new DatabaseOpenError(path, reason);
    default:
      return new DatabaseOpenError(path, reason);
  }
}

function errorCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function prefixed(bucket: number, key: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(1 + key.length);
  bytes[0] = bucket;
  bytes.set(key, 1);
  return bytes;
}

/** LevelDB hands out Buffers, whose `slice` shares memory where a Uint8Array's copies. */
function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function levelRange(bucket: number, { gt, gte, lt, lte, reverse = false, limit = -1 }: KeyRange) {
  const lower = gt ? { gt: prefixed(bucket, gt) } : { gte: prefixed(bucket, gte ?? new Uint8Array()) };
  if (lt) return { ...lower, lt: prefixed(bucket, lt), reverse, limit };
  if (lte) return { ...lower, lte: prefixed(bucket, lte), reverse, limit };
  return { ...lower, lt: Uint8Array.of(bucket + 1), reverse, limit };
}
