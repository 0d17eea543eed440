import type { RootHex, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import {
  Bucket,
  type Root,
  rootBytes,
  type SlotAndRoot,
  slotAndRootKey,
  slotAndRootOfKey,
  slotBound,
  slotKey,
  slotOfKey,
} from "../keys.ts";
import type { LevelStore } from "../level/level-store.ts";
import type { WriteBatch } from "../level/write-batch.ts";

/** Block root → SSZ-encoded signed block, finalized or not. */
export class BlockRepository {
  readonly #store: LevelStore;

  constructor(store: LevelStore) {
    this.#store = store;
  }

  get(root: Root): Promise<Uint8Array | null> {
    return this.#store.get(Bucket.blocks, rootBytes(root));
  }

  has(root: Root): Promise<boolean> {
    return this.#store.has(Bucket.blocks, rootBytes(root));
  }

  /** Iterates over all blocks, in no particular order. */
  async *entries(): AsyncGenerator<{ root: RootHex; bytes: Uint8Array }> {
    for await (const [key, bytes] of this.#store.entries(Bucket.blocks)) yield { root: toRootHex(key), bytes };
  }
}

export class BlockWrites {
  readonly #batch: WriteBatch;

  constructor(batch: WriteBatch) {
    this.#batch = batch;
  }

  put(root: Root, signedBlock: Uint8Array): void {
    this.#batch.put(Bucket.blocks, rootBytes(root), signedBlock);
  }

  delete(root: Root): void {
    this.#batch.delete(Bucket.blocks, rootBytes(root));
  }
}

interface HotBlock extends SlotAndRoot {
  parentRoot: RootHex;
  /** Encoded fork choice data of the block; empty if none was stored. */
  forkChoiceData: Uint8Array;
}

const PARENT_ROOT_BYTES = 32;
const NO_DATA = new Uint8Array();
const NO_VALUE = new Uint8Array();

/** Index of the unfinalized blocks. Fork choice is rebuilt from this index at start-up. */
export class HotBlockRepository {
  readonly #store: LevelStore;

  constructor(store: LevelStore) {
    this.#store = store;
  }

  async last(): Promise<SlotAndRoot | null> {
    for await (const key of this.#store.keys(Bucket.hotBlocks, { reverse: true, limit: 1 }))
      return slotAndRootOfKey(key);
    return null;
  }

  /** Iterates over blocks up to and including slot `to`, in slot order, so that parents precede their children. */
  async *entries({ to = Number.POSITIVE_INFINITY }: { to?: Slot } = {}): AsyncGenerator<HotBlock> {
    for await (const [key, value] of this.#store.entries(Bucket.hotBlocks, { lt: slotBound(to + 1) })) {
      const parentRoot = toRootHex(value.subarray(0, PARENT_ROOT_BYTES));
      yield { ...slotAndRootOfKey(key), parentRoot, forkChoiceData: value.subarray(PARENT_ROOT_BYTES) };
    }
  }
}

export class HotBlockWrites {
  readonly #batch: WriteBatch;

  constructor(batch: WriteBatch) {
    this.#batch = batch;
  }

  put(slot: Slot, root: Root, parentRoot: Root, forkChoiceData: Uint8Array = NO_DATA): void {
    const value = new Uint8Array(PARENT_ROOT_BYTES + forkChoiceData.length);
    value.set(rootBytes(parentRoot));
    value.set(forkChoiceData, PARENT_ROOT_BYTES);
    this.#batch.put(Bucket.hotBlocks, slotAndRootKey(slot, root), value);
  }

  delete(slot: Slot, root: Root): void {
    this.#batch.delete(Bucket.hotBlocks, slotAndRootKey(slot, root));
  }
}

/** Roots of blocks orphaned by finality whose payloads had been found valid. */
export class OrphanedBlockRepository {
  readonly #store: LevelStore;

  constructor(store: LevelStore) {
    this.#store = store;
  }

  async *roots(): AsyncGenerator<RootHex> {
    for await (const key of this.#store.keys(Bucket.orphanedBlocks)) yield toRootHex(key);
  }
}

export class OrphanedBlockWrites {
  readonly #batch: WriteBatch;

  constructor(batch: WriteBatch) {
    this.#batch = batch;
  }

  put(root: Root): void {
    this.#batch.put(Bucket.orphanedBlocks, rootBytes(root), NO_VALUE);
  }
}

interface SlotRange {
  /** Inclusive. */
  from?: Slot;
  /** Inclusive. */
  to?: Slot;
  reverse?: boolean;
  limit?: number;
}

/** Slot → block root on the finalized chain. Empty slots have no entry. */
export class FinalizedBlockRepository {
  readonly #store: LevelStore;

  constructor(store: LevelStore) {
    this.#store = store;
  }

  /**
   * Reads a single key: for an empty slot, an iterator would load the next entry, which may share a LevelDB block with
   * a state.
   */
  async get(slot: Slot): Promise<RootHex | null> {
    if (slot < 0 || slot > Number.MAX_SAFE_INTEGER) return null;
    const root = await this.#store.get(Bucket.finalizedBlocks, slotKey(slot));
    return root && toRootHex(root);
  }

  async *range({ from = 0, to = Number.POSITIVE_INFINITY, reverse, limit }: SlotRange): AsyncGenerator<SlotAndRoot> {
    if (to < 0) return;
    const keys = { gte: slotBound(from), lte: slotBound(to), reverse, limit };
    for await (const [key, root] of this.#store.entries(Bucket.finalizedBlocks, keys)) {
      yield { slot: slotOfKey(key), root: toRootHex(root) };
    }
  }

  async lastAtOrBefore(slot: Slot): Promise<SlotAndRoot | null> {
    for await (const entry of this.range({ to: slot, reverse: true, limit: 1 })) return entry;
    return null;
  }

  async firstAfter(slot: Slot): Promise<SlotAndRoot | null> {
    for await (const entry of this.range({ from: slot + 1, limit: 1 })) return entry;
    return null;
  }
}

export class FinalizedBlockWrites {
  readonly #batch: WriteBatch;

  constructor(batch: WriteBatch) {
    this.#batch = batch;
  }

  put(slot: Slot, root: Root): void {
    this.#batch.put(Bucket.finalizedBlocks, slotKey(slot), rootBytes(root));
  }

  delete(slot: Slot): void {
    this.#batch.delete(Bucket.finalizedBlocks, slotKey(slot));
  }
}
