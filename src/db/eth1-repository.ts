import { Bucket, slotKey, slotOfKey } from "./keys.ts";
import type { LevelStore } from "./level-store.ts";

/** What was read of the deposit chain since the last time; what is in it comes to be together or not at all. */
export interface Eth1Changes {
  /** Blocks by their numbers. */
  blocks?: ReadonlyMap<number, Uint8Array>;
  /** Deposits by their indices. */
  deposits?: ReadonlyMap<number, Uint8Array>;
  snapshot?: Uint8Array;
  /** Blocks from this number on, and before that one, are dropped; those above are put after it. */
  dropBlocks?: { from?: number; before?: number };
  /** The same for deposits, by their indices. */
  dropDeposits?: { from?: number; before?: number };
}

const SNAPSHOT_KEY = new Uint8Array();

/** The blocks and deposits of the deposit chain that a node needs for its votes and its blocks. */
export class Eth1Repository {
  readonly #store: LevelStore;

  constructor(store: LevelStore) {
    this.#store = store;
  }

  /** Oldest first. */
  async blocks(): Promise<Uint8Array[]> {
    const blocks: Uint8Array[] = [];
    for await (const [, value] of this.#store.entries(Bucket.eth1Blocks)) blocks.push(value);
    return blocks;
  }

  /** In order, from an index on and before another. */
  async *deposits(from: number, before: number): AsyncGenerator<[index: number, value: Uint8Array]> {
    const range = { gte: slotKey(from), lt: slotKey(before) };
    for await (const [key, value] of this.#store.entries(Bucket.eth1Deposits, range)) yield [slotOfKey(key), value];
  }

  snapshot(): Promise<Uint8Array | null> {
    return this.#store.get(Bucket.eth1Snapshot, SNAPSHOT_KEY);
  }

  async write({ blocks, deposits, snapshot, dropBlocks = {}, dropDeposits = {} }: Eth1Changes): Promise<void> {
    const batch = this.#store.batch();
    const drops = [
      [Bucket.eth1Blocks, dropBlocks],
      [Bucket.eth1Deposits, dropDeposits],
    ] as const;
    for (const [bucket, { from, before }] of drops) {
      const ranges = [from !== undefined && { gte: slotKey(from) }, before !== undefined && { lt: slotKey(before) }];
      for (const range of ranges) {
        if (range) for await (const key of this.#store.keys(bucket, range)) batch.delete(bucket, key);
      }
    }
    for (const [number, value] of blocks ?? []) batch.put(Bucket.eth1Blocks, slotKey(number), value);
    for (const [index, value] of deposits ?? []) batch.put(Bucket.eth1Deposits, slotKey(index), value);
    if (snapshot) batch.put(Bucket.eth1Snapshot, SNAPSHOT_KEY, snapshot);
    await batch.write();
  }
}
