import { Bucket, slotKey, slotOfKey } from "../keys.ts";
import type { LevelStore } from "../level/level-store.ts";

/** Changes to the stored deposit chain, written atomically. */
export interface Eth1Changes {
  /** By block number. */
  blocks?: ReadonlyMap<number, Uint8Array>;
  /** By deposit index. */
  deposits?: ReadonlyMap<number, Uint8Array>;
  snapshot?: Uint8Array;
  /** Deletes blocks with numbers >= `from` or < `before`, before `blocks` are written. */
  dropBlocks?: { from?: number; before?: number };
  /** Deletes deposits with indices >= `from` or < `before`. */
  dropDeposits?: { from?: number; before?: number };
}

const SNAPSHOT_KEY = new Uint8Array();

/** Blocks and deposits from the execution chain, needed for eth1 votes and block production before Electra. */
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

  /** Iterates over deposits with indices in [from, before), in order. */
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
