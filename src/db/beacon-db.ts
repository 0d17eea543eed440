import type { DatabaseWriteError } from "./errors.ts";
import { Bucket } from "./keys.ts";
import { prefixed } from "./level/key-range.ts";
import type { Operation } from "./level/layers.ts";
import type { LevelStore } from "./level/level-store.ts";
import type { WriteBatch } from "./level/write-batch.ts";
import {
  BlockRepository,
  BlockWrites,
  FinalizedBlockRepository,
  FinalizedBlockWrites,
  HotBlockRepository,
  HotBlockWrites,
  OrphanedBlockRepository,
  OrphanedBlockWrites,
} from "./repositories/block-repositories.ts";
import { DataRepository, DataWrites } from "./repositories/data-repository.ts";
import { Eth1Repository } from "./repositories/eth1-repository.ts";
import { LightClientRepository } from "./repositories/light-client-repository.ts";
import { MetaRepository, MetaWrites } from "./repositories/meta-repository.ts";
import { OperationRepository } from "./repositories/operation-repository.ts";
import { PayloadRepository, PayloadWrites } from "./repositories/payload-repository.ts";
import { SnapshotRepository, SnapshotWrites } from "./repositories/snapshot-repository.ts";
import { StateIndexRepository, StateIndexWrites } from "./repositories/state-repositories.ts";

/** Atomic batch of writes across repositories. */
export class BeaconDbBatch {
  readonly blocks: BlockWrites;
  readonly hotBlocks: HotBlockWrites;
  readonly finalizedBlocks: FinalizedBlockWrites;
  readonly orphanedBlocks: OrphanedBlockWrites;
  readonly payloads: PayloadWrites;
  readonly stateIndex: StateIndexWrites;
  readonly snapshots: SnapshotWrites;
  readonly data: DataWrites;
  readonly meta: MetaWrites;
  readonly #batch: WriteBatch;

  constructor(batch: WriteBatch) {
    this.#batch = batch;
    this.blocks = new BlockWrites(batch);
    this.hotBlocks = new HotBlockWrites(batch);
    this.finalizedBlocks = new FinalizedBlockWrites(batch);
    this.orphanedBlocks = new OrphanedBlockWrites(batch);
    this.payloads = new PayloadWrites(batch);
    this.stateIndex = new StateIndexWrites(batch);
    this.snapshots = new SnapshotWrites(batch);
    this.data = new DataWrites(batch);
    this.meta = new MetaWrites(batch);
  }

  putRaw({ bucket, key, value }: RawEntry): void {
    this.#batch.put(bucket, key, value);
  }

  /** Commits the batch. Can be called once per batch. */
  write(): Promise<void> {
    return this.#batch.write();
  }
}

/** A database entry with its raw key and value. */
export interface RawEntry {
  bucket: number;
  key: Uint8Array;
  value: Uint8Array;
}

/**
 * The node's database. Reads go through the repositories; writes go into an atomic batch:
 *
 *     const batch = db.batch();
 *     batch.blocks.put(root, bytes);
 *     batch.hotBlocks.put(slot, root, parentRoot);
 *     await batch.write();
 */
export class BeaconDb {
  readonly path: string;
  readonly blocks: BlockRepository;
  readonly hotBlocks: HotBlockRepository;
  readonly finalizedBlocks: FinalizedBlockRepository;
  readonly orphanedBlocks: OrphanedBlockRepository;
  readonly payloads: PayloadRepository;
  readonly stateIndex: StateIndexRepository;
  readonly snapshots: SnapshotRepository;
  readonly data: DataRepository;
  readonly operations: OperationRepository;
  readonly lightClient: LightClientRepository;
  readonly eth1: Eth1Repository;
  readonly meta: MetaRepository;
  readonly #store: LevelStore;

  constructor(store: LevelStore) {
    this.#store = store;
    this.path = store.path;
    this.blocks = new BlockRepository(store);
    this.hotBlocks = new HotBlockRepository(store);
    this.finalizedBlocks = new FinalizedBlockRepository(store);
    this.orphanedBlocks = new OrphanedBlockRepository(store);
    this.payloads = new PayloadRepository(store);
    this.stateIndex = new StateIndexRepository(store);
    this.snapshots = new SnapshotRepository(store);
    this.data = new DataRepository(store);
    this.operations = new OperationRepository(store);
    this.lightClient = new LightClientRepository(store);
    this.eth1 = new Eth1Repository(store);
    this.meta = new MetaRepository(store);
  }

  /** True if the contents are lost when the process ends. */
  get isInMemory(): boolean {
    return this.#store.isInMemory;
  }

  /** Resolves with the first write error. All later writes are rejected. */
  get failed(): Promise<DatabaseWriteError> {
    return this.#store.failed;
  }

  get failure(): DatabaseWriteError | undefined {
    return this.#store.failure;
  }

  batch(): BeaconDbBatch {
    return new BeaconDbBatch(this.#store.batch());
  }

  /**
   * Adds a layer that receives all further writes, and returns its number. Dropping the layer restores the current
   * contents. Layers are merged into the database when it is next opened.
   */
  addLayer(): Promise<number> {
    return this.#store.addLayer();
  }

  /** Discards everything written since the layer was added, in one atomic write. */
  dropLayer(number: number): Promise<void> {
    return this.#store.dropLayer(number);
  }

  /**
   * Iterates over the chain's raw entries in the given buckets. Values that belong to the node, such as its key, are
   * excluded.
   */
  async *chainEntries(buckets: readonly number[] = Object.values(Bucket)): AsyncGenerator<RawEntry> {
    for await (const { bucket, key } of this.#chainKeys(buckets)) {
      const value = await this.#store.get(bucket, key);
      if (value) yield { bucket, key, value };
    }
  }

  /**
   * Atomically replaces the chain in this database with the chain in another database. The change is stored as a
   * separate layer, so older layers can still be restored.
   */
  async replaceChainWith(other: BeaconDb): Promise<void> {
    await this.#store.addFilledLayer(this.#replacement(other));
  }

  async *#replacement(other: BeaconDb): AsyncGenerator<Operation> {
    const buckets = Object.values(Bucket);
    for await (const { bucket, key } of this.#chainKeys(buckets)) yield { type: "del", key: prefixed(bucket, key) };
    for await (const { bucket, key, value } of other.chainEntries()) {
      yield { type: "put", key: prefixed(bucket, key), value };
    }
  }

  async *#chainKeys(buckets: readonly number[]): AsyncGenerator<{ bucket: number; key: Uint8Array }> {
    for (const bucket of buckets) {
      const keys = bucket === Bucket.meta ? this.meta.chainKeys() : this.#store.keys(bucket);
      for await (const key of keys) yield { bucket, key };
    }
  }

  diskBytes(): Promise<number> {
    return this.#store.diskBytes();
  }

  /** Returns the free space on the database's disk; undefined for an in-memory database. */
  freeDiskBytes(): Promise<number | undefined> {
    return this.#store.freeDiskBytes();
  }

  /**
   * Deletes all entries except the schema version. Meta values are deleted last: if the process crashes in between, the
   * database still identifies its chain and does not look empty.
   */
  async clear(): Promise<void> {
    for (const bucket of Object.values(Bucket)) if (bucket !== Bucket.meta) await this.#store.clear(bucket);
    await this.meta.clear();
  }

  /** Compacts the buckets with the most deletions: hot blocks and state snapshots. Does not block reads and writes. */
  async compact(): Promise<void> {
    for (const bucket of [Bucket.hotBlocks, Bucket.snapshots, Bucket.snapshotParts]) await this.#store.compact(bucket);
  }

  /** Compacts all buckets. */
  async compactAll(): Promise<void> {
    for (const bucket of Object.values(Bucket)) await this.#store.compact(bucket);
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}
