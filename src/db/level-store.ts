import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { DatabaseCorruptError, DatabaseInUseError, DatabaseOpenError, DatabaseWriteError } from "./errors.ts";
import {
  asPlainOperation,
  type Change,
  type DroppedLayer,
  inLayer,
  type LayeredKey,
  Layers,
  LIVE_LAYERS_KEY,
  layerKey,
  nameOf,
  type Operation,
  plainKeyOf,
  plainValueOf,
  RANGE_OF_LAYERS,
  rangeOfLayer,
  readLive,
} from "./layers.ts";

type LevelDb = ClassicLevel<Uint8Array, Uint8Array>;

/** Bounds are keys inside the bucket; ranges go over keys in byte order. */
interface KeyRange {
  gt?: Uint8Array;
  gte?: Uint8Array;
  lt?: Uint8Array;
  lte?: Uint8Array;
  reverse?: boolean;
  limit?: number;
}

/** So much is written at once when much has to be rewritten or deleted; other writes come in between. */
const PORTION_BYTES = 2 ** 22;
const PORTION_KEYS = 2000;

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
  readonly #layers = new Layers();
  readonly #failed = Promise.withResolvers<DatabaseWriteError>();
  #failure: DatabaseWriteError | undefined;
  #lastWrite: Promise<unknown> = Promise.resolve();
  #cleaning: Promise<void> = Promise.resolve();
  #isClosing = false;

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
    const plainKey = prefixed(bucket, key);
    const layered = this.#layers.find(plainKey);
    if (layered) return this.#valueOf(layered);
    const value = await this.#level.get(plainKey).catch((error) => this.#rethrow(error));
    return value === undefined ? null : plainBytes(value);
  }

  async has(bucket: number, key: Uint8Array): Promise<boolean> {
    const plainKey = prefixed(bucket, key);
    const layered = this.#layers.find(plainKey);
    if (layered) return layered.valueKey !== null;
    return this.#level.has(plainKey).catch((error) => this.#rethrow(error));
  }

  async isEmpty(): Promise<boolean> {
    for await (const _ of this.#level.keys({ limit: 1 })) return false;
    return true;
  }

  async *entries(bucket: number, range: KeyRange = {}): AsyncGenerator<[key: Uint8Array, value: Uint8Array]> {
    try {
      for await (const { key, value, layered } of this.#found(bucket, range, { values: true })) {
        const found = layered ? await this.#valueOf(layered) : plainBytes(value);
        if (found) yield [plainBytes(key.subarray(1)), found];
      }
    } catch (error) {
      this.#rethrow(error);
    }
  }

  async *keys(bucket: number, range: KeyRange = {}): AsyncGenerator<Uint8Array> {
    try {
      for await (const { key } of this.#found(bucket, range, { values: false })) yield plainBytes(key.subarray(1));
    } catch (error) {
      this.#rethrow(error);
    }
  }

  batch(): WriteBatch {
    return new WriteBatch((operations) => this.#write(() => this.#commit(operations)));
  }

  /** What the files of the store take. */
  async diskBytes(): Promise<number> {
    const sizes = await Promise.all((await readdir(this.path)).map((name) => sizeOf(join(this.path, name))));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Deletes whatever is in a bucket; not atomic. */
  async clear(bucket: number): Promise<void> {
    if (this.#layers.isEmpty) return this.#write(() => this.#level.clear(levelRange(bucket, {})));
    let batch = this.batch();
    let keys = 0;
    for await (const key of this.keys(bucket)) {
      batch.delete(bucket, key);
      if (++keys % PORTION_KEYS > 0) continue;
      await batch.write();
      batch = this.batch();
    }
    await batch.write();
  }

  /**
   * Begins a new layer, into which all writes go from now on, and tells its number. It lasts until it is dropped or the store
   * is opened the next time, which makes its writes those of the store.
   */
  async addLayer(): Promise<number> {
    const number = this.#layers.next();
    await this.#bringIn(number);
    return number;
  }

  /** The same with operations in it from the beginning, which come to be all together however many they are. */
  async addFilledLayer(operations: AsyncIterable<Operation>): Promise<number> {
    const number = this.#layers.next();
    try {
      const changes: Change[] = [];
      for await (const portion of inPortions(operations)) {
        await this.#write(() => this.#level.batch(inLayer(number, portion), { sync: this.#sync }));
        for (const { type, key } of portion) changes.push({ type, key });
      }
      await this.#bringIn(number, changes);
      return number;
    } catch (error) {
      this.#clean([{ number }]);
      throw error;
    }
  }

  /** Leaves the store as it was when the layer was begun, in one write; those above it are dropped with it. */
  async dropLayer(number: number): Promise<void> {
    const dropped = await this.#write(async () => {
      await this.#level.batch([this.#layers.dropping(number)], { sync: this.#sync });
      return this.#layers.drop(number);
    });
    this.#clean(dropped);
  }

  /**
   * Makes the writes of the layers that were live when the store was last closed those of the store. One that was cut short
   * goes on at the next start: a layer is wholly done before the one above it is begun.
   */
  async mergeLayers(): Promise<void> {
    try {
      for (const number of readLive(await this.#level.get(LIVE_LAYERS_KEY))) await this.#mergeLayer(number);
      await this.#write(() => this.#level.clear(RANGE_OF_LAYERS));
    } catch (error) {
      this.#rethrow(error);
    }
  }

  /** Gives the room back that deleted entries of a bucket still take on the disk, which may take long. */
  compact(bucket: number): Promise<void> {
    return this.#level
      .compactRange(Uint8Array.of(bucket), Uint8Array.of(bucket + 1))
      .catch((error) => this.#rethrow(error));
  }

  /** What a bucket takes on the disk, but for what was written last and for what is in layers. */
  bytesOf(bucket: number): Promise<number> {
    return this.#level.approximateSize(Uint8Array.of(bucket), Uint8Array.of(bucket + 1));
  }

  /** Waits for the writes and reads under way. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#cleaning;
    await this.#level.close();
  }

  async #commit(operations: readonly Operation[]): Promise<void> {
    await this.#level.batch(this.#layers.layered(operations), { sync: this.#sync });
    this.#layers.note(operations);
  }

  /** Null for a key that was deleted, or whose layer was dropped since it was found. */
  async #valueOf({ valueKey }: LayeredKey): Promise<Uint8Array | null> {
    if (valueKey === null) return null;
    const value = await this.#level.get(valueKey).catch((error) => this.#rethrow(error));
    return value === undefined ? null : plainBytes(plainValueOf(value));
  }

  /** What stands below the layers, with what these say of it. Of an entry of a layer there is no value yet. */
  async *#found(bucket: number, range: KeyRange, { values }: { values: boolean }): AsyncGenerator<FoundEntry> {
    const { limit, ...bounds } = levelRange(bucket, range);
    const upper = this.#layers.range(bounds);
    const first = upper.next();
    if (first.done) {
      for await (const [key, value] of this.#level.iterator({ ...bounds, limit, values })) yield { key, value };
      return;
    }
    let left = limit < 0 ? Number.POSITIVE_INFINITY : limit;
    for await (const entry of this.#merged(first, upper, { ...bounds, values })) {
      if (left-- === 0) return;
      yield entry;
    }
  }

  async *#merged(
    first: IteratorResult<LayeredKey>,
    upper: Iterator<LayeredKey>,
    { values, ...bounds }: LevelBounds & { values: boolean },
  ): AsyncGenerator<FoundEntry> {
    const isBefore = (a: string, b: string) => (bounds.reverse ? a > b : a < b);
    let next = first;
    const taken = (): FoundEntry[] => {
      const layered: LayeredKey = next.value;
      next = upper.next();
      return layered.valueKey === null ? [] : [{ key: plainKeyOf(layered), value: NO_VALUE, layered }];
    };
    for await (const [key, value] of this.#level.iterator({ ...bounds, values })) {
      const name = nameOf(key);
      while (!next.done && isBefore(next.value.name, name)) yield* taken();
      if (!next.done && next.value.name === name) yield* taken();
      else yield { key, value };
    }
    while (!next.done) yield* taken();
  }

  /** Makes a layer live. */
  #bringIn(number: number, changes: readonly Change[] = []): Promise<void> {
    return this.#write(async () => {
      await this.#level.batch([this.#layers.adding(number)], { sync: this.#sync });
      this.#layers.add(number, changes);
    });
  }

  async #mergeLayer(number: number): Promise<void> {
    const level = this.#level;
    const entries = (async function* () {
      for await (const [key, value] of level.iterator(rangeOfLayer(number))) yield asPlainOperation(key, value);
    })();
    for await (const portion of inPortions(entries)) {
      const moved = portion.map(({ key }): Operation => ({ type: "del", key: layerKey(number, key) }));
      await this.#write(() => level.batch([...portion, ...moved], { sync: this.#sync }));
    }
  }

  /** Deletes what layers that are not live have left, behind everybody's back. */
  #clean(layers: readonly DroppedLayer[]): void {
    const cleaning = this.#cleaning.then(async () => {
      for (const layer of layers) {
        await this.#deleteLayer(layer.number);
        this.#layers.forget(layer);
      }
    });
    // A write that fails is told to all who wait for `failed`; what is left is deleted at the next start.
    this.#cleaning = cleaning.catch(() => {});
  }

  /** In portions, so that nobody waits long for a write. */
  async #deleteLayer(number: number): Promise<void> {
    const range = rangeOfLayer(number);
    const hasAny = async () => (await this.#level.keys({ ...range, limit: 1 }).all()).length > 0;
    while (!this.#isClosing && (await hasAny())) {
      await this.#write(() => this.#level.clear({ ...range, limit: PORTION_KEYS }));
    }
  }

  /**
   * One at a time, and none after one that failed: what LevelDB appends to a log after a record that was cut short can be
   * unreadable at the next start.
   */
  #write<T>(write: () => Promise<T>): Promise<T> {
    const written = this.#lastWrite.then(async () => {
      if (this.#failure) throw this.#failure;
      try {
        return await write();
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

/** Opening a database writes to it. LevelDB has no codes for what the operating system says, only its words. */
const OWN_LOCK = /already held by process/i;
const NO_ROOM = /No space left|File too large|quota exceeded|not enough space/i;

function openFailure(path: string, error: unknown): Error {
  // LevelDB's own reason is the cause of a general "not open".
  const reason = error instanceof Error && error.cause !== undefined ? error.cause : error;
  switch (errorCode(reason)) {
    case "LEVEL_LOCKED":
      return new DatabaseInUseError(path, OWN_LOCK.test(String(reason)) ? "this process" : "another process", reason);
    case "LEVEL_CORRUPTION":
      return new DatabaseCorruptError(path, reason);
    case "LEVEL_IO_ERROR":
      // LevelDB creates what a new database needs, so a file it misses is one that an existing database has lost.
      if (/No such file|cannot find the/i.test(String(reason))) return new DatabaseCorruptError(path, reason);
      return NO_ROOM.test(String(reason)) ? new DatabaseWriteError(path, reason) : new DatabaseOpenError(path, reason);
    default:
      return new DatabaseOpenError(path, reason);
  }
}

function errorCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

export function prefixed(bucket: number, key: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(1 + key.length);
  bytes[0] = bucket;
  bytes.set(key, 1);
  return bytes;
}

/** LevelDB hands out Buffers, whose `slice` shares memory where a Uint8Array's copies. */
function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

async function* inPortions(operations: AsyncIterable<Operation>): AsyncGenerator<Operation[]> {
  let portion: Operation[] = [];
  let bytes = 0;
  for await (const operation of operations) {
    portion.push(operation);
    bytes += operation.type === "put" ? operation.value.length : 0;
    if (bytes < PORTION_BYTES && portion.length < PORTION_KEYS) continue;
    yield portion;
    portion = [];
    bytes = 0;
  }
  if (portion.length > 0) yield portion;
}

/** An entry, and where its value stands when that is in a layer. */
interface FoundEntry {
  key: Uint8Array;
  value: Uint8Array;
  layered?: LayeredKey;
}

const NO_VALUE = new Uint8Array();

type LevelBounds = Omit<KeyRange, "limit"> & { reverse: boolean };

function levelRange(
  bucket: number,
  { gt, gte, lt, lte, reverse = false, limit = -1 }: KeyRange,
): LevelBounds & { limit: number } {
  const lower = gt ? { gt: prefixed(bucket, gt) } : { gte: prefixed(bucket, gte ?? new Uint8Array()) };
  if (lt) return { ...lower, lt: prefixed(bucket, lt), reverse, limit };
  if (lte) return { ...lower, lte: prefixed(bucket, lte), reverse, limit };
  return { ...lower, lt: Uint8Array.of(bucket + 1), reverse, limit };
}
