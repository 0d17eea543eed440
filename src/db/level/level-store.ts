import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { ClassicLevel } from "classic-level";
import { errorCode } from "../../errors/error-code.ts";
import { DatabaseCorruptError, DatabaseInUseError, DatabaseWriteError } from "../errors.ts";
import type { Engine, EngineRange } from "./engine.ts";
import { keyOf, nameOf } from "./key-names.ts";
import { type KeyRange, type LevelBounds, levelRange, prefixed } from "./key-range.ts";
import {
  ALL_LAYERS_RANGE,
  asPlainOperation,
  type Change,
  type DroppedLayer,
  inLayer,
  type LayeredKey,
  Layers,
  LIVE_LAYERS_KEY,
  layerKey,
  layerRange,
  type Operation,
  plainValueOf,
  readLiveLayers,
} from "./layers.ts";
import { openFailure } from "./level-errors.ts";
import { MemoryEngine } from "./memory-engine.ts";
import { WriteBatch } from "./write-batch.ts";

type LevelDb = ClassicLevel<Uint8Array, Uint8Array>;

/** Chunk limits for bulk rewrites and deletions. Other writes run between chunks. */
const CHUNK_BYTES = 2 ** 22;
const CHUNK_KEYS = 2000;

export interface StoreOptions {
  /** Waits for fsync before a write resolves. */
  sync: boolean;
}

/** Loads LevelDB on first use, so in-memory chains load neither its native code nor its 25 modules. */
async function createLevel(
  ...args: ConstructorParameters<typeof ClassicLevel<Uint8Array, Uint8Array>>
): Promise<LevelDb> {
  const { ClassicLevel } = await import("classic-level");
  return new ClassicLevel(...args);
}

/** LevelDB or its in-memory replacement, with one-byte bucket prefixes and copy-on-write layers. */
export class LevelStore {
  readonly path: string;
  readonly isInMemory: boolean;
  readonly #level: Engine;
  readonly #sync: boolean;
  readonly #layers = new Layers();
  readonly #failed = Promise.withResolvers<DatabaseWriteError>();
  #failure: DatabaseWriteError | undefined;
  #lastWrite: Promise<unknown> = Promise.resolve();
  #purging: Promise<void> = Promise.resolve();
  #isClosing = false;

  private constructor(level: Engine, path: string, sync: boolean) {
    this.#level = level;
    this.path = path;
    this.isInMemory = level instanceof MemoryEngine;
    this.#sync = sync;
  }

  /** Creates an empty in-memory store. Nothing is written to the path. */
  static inMemory(path: string): LevelStore {
    return new LevelStore(new MemoryEngine(), path, false);
  }

  static async open(path: string, { sync }: StoreOptions): Promise<LevelStore> {
    const level = await createLevel(path, { keyEncoding: "view", valueEncoding: "view" });
    try {
      await level.open();
    } catch (error) {
      throw openFailure(path, error);
    }
    return new LevelStore(level, path, sync);
  }

  /** Throws a `DatabaseInUseError` if the database is open elsewhere. Does not modify the database. */
  static async requireUnused(path: string): Promise<void> {
    // With `errorIfExists`, LevelDB acquires the lock and then fails before writing.
    const level = await createLevel(path, { createIfMissing: false, errorIfExists: true });
    const refusal: unknown = await level.open().catch((error: unknown) => openFailure(path, error));
    if (refusal instanceof DatabaseInUseError) throw refusal;
  }

  /** Resolves with the first write error. All later writes are rejected. */
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
    return !(await this.#hasAny({}));
  }

  async *entries(bucket: number, range: KeyRange = {}): AsyncGenerator<[key: Uint8Array, value: Uint8Array]> {
    try {
      for await (const { key, value, layered } of this.#iterate(bucket, range, { values: true })) {
        const plainValue = layered ? await this.#valueOf(layered) : plainBytes(value);
        if (plainValue) yield [plainBytes(key.subarray(1)), plainValue];
      }
    } catch (error) {
      this.#rethrow(error);
    }
  }

  async *keys(bucket: number, range: KeyRange = {}): AsyncGenerator<Uint8Array> {
    try {
      for await (const { key } of this.#iterate(bucket, range, { values: false })) yield plainBytes(key.subarray(1));
    } catch (error) {
      this.#rethrow(error);
    }
  }

  batch(): WriteBatch {
    return new WriteBatch((operations) => this.#write(() => this.#commit(operations)));
  }

  /** Returns the total size of the store's files. */
  async diskBytes(): Promise<number> {
    if (this.isInMemory) return 0;
    const sizes = await Promise.all((await readdir(this.path)).map((name) => sizeOf(join(this.path, name))));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Returns the free space on the store's disk; undefined for an in-memory store. */
  async freeDiskBytes(): Promise<number | undefined> {
    if (this.isInMemory) return undefined;
    const { bavail, bsize } = await statfs(this.path);
    return bavail * bsize;
  }

  /** Deletes all entries in a bucket. Not atomic. */
  async clear(bucket: number): Promise<void> {
    if (this.#layers.isEmpty) return this.#write(() => this.#level.clear(levelRange(bucket, {})));
    let batch = this.batch();
    let keys = 0;
    for await (const key of this.keys(bucket)) {
      batch.delete(bucket, key);
      if (++keys % CHUNK_KEYS > 0) continue;
      await batch.write();
      batch = this.batch();
    }
    await batch.write();
  }

  /**
   * Adds a layer that receives all further writes, and returns its number. `dropLayer` discards the layer; otherwise
   * `mergeLayers` merges it into the base at the next start.
   */
  async addLayer(): Promise<number> {
    const number = this.#layers.allocate();
    await this.#activate(number);
    return number;
  }

  /**
   * Adds a layer containing the operations. The operations become visible atomically, even if they do not fit into one
   * batch.
   */
  async addFilledLayer(operations: AsyncIterable<Operation>): Promise<number> {
    const number = this.#layers.allocate();
    try {
      const changes: Change[] = [];
      for await (const chunk of inChunks(operations)) {
        await this.#write(() => this.#level.batch(inLayer(number, chunk), { sync: this.#sync }));
        for (const { type, key } of chunk) changes.push({ type, key });
      }
      await this.#activate(number, changes);
      return number;
    } catch (error) {
      this.#purge([{ number }]);
      throw error;
    }
  }

  /** Restores the contents from before the layer was added, in one write. Also drops all layers above it. */
  async dropLayer(number: number): Promise<void> {
    const dropped = await this.#write(async () => {
      await this.#level.batch([this.#layers.dropOperation(number)], { sync: this.#sync });
      return this.#layers.drop(number);
    });
    this.#purge(dropped);
  }

  /**
   * Merges the layers that were live at the last close into the base. Resumable: each layer is merged completely before
   * the next one starts.
   */
  async mergeLayers(): Promise<void> {
    try {
      for (const number of readLiveLayers(await this.#level.get(LIVE_LAYERS_KEY))) await this.#mergeLayer(number);
      await this.#write(() => this.#level.clear(ALL_LAYERS_RANGE));
    } catch (error) {
      this.#rethrow(error);
    }
  }

  /** Reclaims the disk space used by deleted entries in a bucket. Can take minutes. */
  compact(bucket: number): Promise<void> {
    return this.#level
      .compactRange(Uint8Array.of(bucket), Uint8Array.of(bucket + 1))
      .catch((error) => this.#rethrow(error));
  }

  /** Returns the approximate disk size of a bucket, excluding recent writes and layers. */
  bytesOf(bucket: number): Promise<number> {
    return this.#level.approximateSize(Uint8Array.of(bucket), Uint8Array.of(bucket + 1));
  }

  /** Waits for pending reads and writes. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#purging;
    await this.#level.close();
  }

  async #commit(operations: readonly Operation[]): Promise<void> {
    await this.#level.batch(this.#layers.layered(operations), { sync: this.#sync });
    this.#layers.record(operations);
  }

  /** Returns null if the key was deleted or its layer was dropped since the lookup. */
  async #valueOf({ valueKey }: LayeredKey): Promise<Uint8Array | null> {
    if (valueKey === null) return null;
    const value = await this.#level.get(valueKey).catch((error) => this.#rethrow(error));
    return value === undefined ? null : plainBytes(plainValueOf(value));
  }

  /** Iterates over a range across the base and its layers. Values of layered entries are not loaded. */
  async *#iterate(bucket: number, range: KeyRange, { values }: { values: boolean }): AsyncGenerator<FoundEntry> {
    const { limit, ...bounds } = levelRange(bucket, range);
    const upper = this.#layers.range(bounds);
    const first = upper.next();
    if (first.done) {
      for await (const [key, value] of this.#level.iterator({ ...bounds, limit, values })) yield { key, value };
      return;
    }
    let remaining = limit < 0 ? Number.POSITIVE_INFINITY : limit;
    for await (const entry of this.#merged(first, upper, { ...bounds, values })) {
      if (remaining-- === 0) return;
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
    const takeLayered = (): FoundEntry[] => {
      const layered: LayeredKey = next.value;
      next = upper.next();
      return layered.valueKey === null ? [] : [{ key: keyOf(layered.name), value: NO_VALUE, layered }];
    };
    for await (const [key, value] of this.#level.iterator({ ...bounds, values })) {
      const name = nameOf(key);
      while (!next.done && isBefore(next.value.name, name)) yield* takeLayered();
      if (!next.done && next.value.name === name) yield* takeLayered();
      else yield { key, value };
    }
    while (!next.done) yield* takeLayered();
  }

  /** Makes a layer live. */
  #activate(number: number, changes: readonly Change[] = []): Promise<void> {
    return this.#write(async () => {
      await this.#level.batch([this.#layers.addOperation(number)], { sync: this.#sync });
      this.#layers.add(number, changes);
    });
  }

  async #mergeLayer(number: number): Promise<void> {
    const level = this.#level;
    const entries = (async function* () {
      for await (const [key, value] of level.iterator(layerRange(number))) yield asPlainOperation(key, value);
    })();
    for await (const chunk of inChunks(entries)) {
      const moved = chunk.map(({ key }): Operation => ({ type: "del", key: layerKey(number, key) }));
      await this.#write(() => level.batch([...chunk, ...moved], { sync: this.#sync }));
    }
  }

  /** Deletes the entries of dropped layers in the background. */
  #purge(layers: readonly DroppedLayer[]): void {
    const purging = this.#purging.then(async () => {
      for (const layer of layers) {
        await this.#deleteLayer(layer.number);
        this.#layers.forget(layer);
      }
    });
    // A failed write is reported through `failed`. The next start deletes the remaining entries.
    this.#purging = purging.catch(() => {});
  }

  /** Deletes in chunks, so that other writes are not delayed. */
  async #deleteLayer(number: number): Promise<void> {
    const range = layerRange(number);
    while (!this.#isClosing && (await this.#hasAny(range))) {
      await this.#write(() => this.#level.clear({ ...range, limit: CHUNK_KEYS }));
    }
  }

  async #hasAny(range: EngineRange): Promise<boolean> {
    for await (const _ of this.#level.keys({ ...range, limit: 1 })) return true;
    return false;
  }

  /**
   * Serializes writes, and rejects all writes after a failed one: records that LevelDB appends after a torn record may
   * be unreadable at the next start.
   */
  #write<T>(write: () => Promise<T>): Promise<T> {
    const result = this.#lastWrite.then(async () => {
      if (this.#failure) throw this.#failure;
      try {
        return await write();
      } catch (error) {
        throw this.#asFailure(error);
      }
    });
    this.#lastWrite = result.catch(() => {});
    return result;
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

/** Converts a Buffer to a plain Uint8Array, whose `slice` copies. */
function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

async function* inChunks(operations: AsyncIterable<Operation>): AsyncGenerator<Operation[]> {
  let chunk: Operation[] = [];
  let bytes = 0;
  for await (const operation of operations) {
    chunk.push(operation);
    bytes += operation.type === "put" ? operation.value.length : 0;
    if (bytes < CHUNK_BYTES && chunk.length < CHUNK_KEYS) continue;
    yield chunk;
    chunk = [];
    bytes = 0;
  }
  if (chunk.length > 0) yield chunk;
}

/** An entry in the base, or a layered key whose value has not been loaded yet. */
interface FoundEntry {
  key: Uint8Array;
  value: Uint8Array;
  layered?: LayeredKey;
}

const NO_VALUE = new Uint8Array();
