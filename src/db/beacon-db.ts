import {
  AbandonedBlockRepository,
  AbandonedBlockWrites,
  BlockRepository,
  BlockWrites,
  FinalizedBlockRepository,
  FinalizedBlockWrites,
  HotBlockRepository,
  HotBlockWrites,
} from "./block-repositories.ts";
import { DataRepository, DataWrites } from "./data-repository.ts";
import type { DatabaseWriteError } from "./errors.ts";
import { Eth1Repository } from "./eth1-repository.ts";
import { Bucket } from "./keys.ts";
import type { Operation } from "./layers.ts";
import { type LevelStore, prefixed, type WriteBatch } from "./level-store.ts";
import { LightClientRepository } from "./light-client-repository.ts";
import { MetaRepository, MetaWrites } from "./meta-repository.ts";
import { OperationRepository } from "./operation-repository.ts";
import { SnapshotRepository, SnapshotWrites } from "./snapshot-repository.ts";
import { StateIndexRepository, StateIndexWrites } from "./state-repositories.ts";

/** Writes to several repositories that come to be all together or not at all. */
export class BeaconDbBatch {
  readonly blocks: BlockWrites;
  readonly hotBlocks: HotBlockWrites;
  readonly finalizedBlocks: FinalizedBlockWrites;
  readonly abandonedBlocks: AbandonedBlockWrites;
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
    this.abandonedBlocks = new AbandonedBlockWrites(batch);
    this.stateIndex = new StateIndexWrites(batch);
    this.snapshots = new SnapshotWrites(batch);
    this.data = new DataWrites(batch);
    this.meta = new MetaWrites(batch);
  }

  putRaw({ bucket, key, value }: RawEntry): void {
    this.#batch.put(bucket, key, value);
  }

  /** A batch can be written once. */
  write(): Promise<void> {
    return this.#batch.write();
  }
}

/** An entry of the database as it lies there. */
export interface RawEntry {
  bucket: number;
  key: Uint8Array;
  value: Uint8Array;
}

/**
 * What the node keeps on disk. Reads go to the repositories, writes into a batch, so that what belongs together is
 * written together:
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
  readonly abandonedBlocks: AbandonedBlockRepository;
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
    this.abandonedBlocks = new AbandonedBlockRepository(store);
    this.stateIndex = new StateIndexRepository(store);
    this.snapshots = new SnapshotRepository(store);
    this.data = new DataRepository(store);
    this.operations = new OperationRepository(store);
    this.lightClient = new LightClientRepository(store);
    this.eth1 = new Eth1Repository(store);
    this.meta = new MetaRepository(store);
  }

  /** Resolves when a write has failed; there are no more from then on, so that none can be lost unnoticed. */
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
   * Begins a layer, into which all is written from now on, and tells its number: to drop it is to leave the database as it is
   * now. The next time that the database is opened, what is in layers becomes part of it.
   */
  addLayer(): Promise<number> {
    return this.#store.addLayer();
  }

  /** Forgets in one write all that was written since the layer was begun. */
  dropLayer(number: number): Promise<void> {
    return this.#store.dropLayer(number);
  }

  /** All that buckets hold of the chain, as it lies there; nothing that belongs to the node alone. */
  async *chainEntries(buckets: readonly number[] = Object.values(Bucket)): AsyncGenerator<RawEntry> {
    for await (const { bucket, key } of this.#chainKeys(buckets)) {
      const value = await this.#store.get(bucket, key);
      if (value) yield { bucket, key, value };
    }
  }

  /**
   * Puts what another database holds of its chain in the place of all that this one does, which a crash leaves done or undone.
   * Layers that were begun before stay where the database can go back to.
   */
  async takeChainOf(other: BeaconDb): Promise<void> {
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

  /**
   * Makes the database as good as new. The single values go last: cut short before, the database still knows which
   * chain it held, and cannot be taken for an empty one.
   */
  async clear(): Promise<void> {
    for (const bucket of Object.values(Bucket)) if (bucket !== Bucket.meta) await this.#store.clear(bucket);
    await this.meta.clear();
  }

  /** Gives the room back that deleted states and entries of unfinalized blocks still take; reads and writes go on. */
  async compact(): Promise<void> {
    for (const bucket of [Bucket.hotBlocks, Bucket.snapshots, Bucket.snapshotParts]) await this.#store.compact(bucket);
  }

  /** The same for everything, which takes longer. */
  async compactAll(): Promise<void> {
    for (const bucket of Object.values(Bucket)) await this.#store.compact(bucket);
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}
