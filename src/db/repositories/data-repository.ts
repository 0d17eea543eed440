import type { RootHex, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { DatabaseCorruptError } from "../errors.ts";
import {
  Bucket,
  type Root,
  rootBytes,
  type SlotAndRoot,
  slotAndRootKey,
  slotAndRootOfKey,
  slotBound,
} from "../keys.ts";
import type { LevelStore } from "../level/level-store.ts";
import type { WriteBatch } from "../level/write-batch.ts";
import { withChecksum, withoutChecksum } from "./checksummed-value.ts";

const ROOT_BYTES = 32;
const INDEX_BYTES = 2;
const MAX_INDEX = 2 ** (8 * INDEX_BYTES) - 1;

/**
 * Block root and index → SSZ-encoded blob sidecar or data column sidecar, depending on the block's fork. Each value
 * ends with a CRC-32C checksum, because verifying the KZG commitment on every read would be slow.
 */
export class DataRepository {
  readonly #store: LevelStore;

  constructor(store: LevelStore) {
    this.#store = store;
  }

  /** Throws a `DatabaseCorruptError` if the checksum does not match. */
  async get(root: Root, index: number): Promise<Uint8Array | null> {
    if (index > MAX_INDEX) return null;
    const value = await this.#store.get(Bucket.dataSidecars, sidecarKey(root, index));
    if (!value) return null;
    const sidecar = withoutChecksum(value);
    if (sidecar) return sidecar;
    const reason = `sidecar ${index} of block ${toRootHex(rootBytes(root))} does not match its checksum`;
    throw new DatabaseCorruptError(this.#store.path, reason);
  }

  async has(root: Root, index: number): Promise<boolean> {
    return index <= MAX_INDEX && this.#store.has(Bucket.dataSidecars, sidecarKey(root, index));
  }

  /** Returns the stored indices of a block in ascending order. */
  async indices(root: Root): Promise<number[]> {
    const indices: number[] = [];
    for await (const key of this.#store.keys(Bucket.dataSidecars, rangeOf(root))) indices.push(indexOfKey(key));
    return indices;
  }

  /** Iterates over all sidecars, grouped by block; blocks come in no particular order. */
  async *sidecars(): AsyncGenerator<{ root: RootHex; index: number }> {
    for await (const key of this.#store.keys(Bucket.dataSidecars)) {
      yield { root: toRootHex(key.subarray(0, ROOT_BYTES)), index: indexOfKey(key) };
    }
  }

  /** Iterates over the blocks that have stored sidecars, from slot `from` to slot `to` (inclusive), in slot order. */
  async *blocks({
    from = 0,
    to = Number.POSITIVE_INFINITY,
  }: {
    from?: Slot;
    to?: Slot;
  } = {}): AsyncGenerator<SlotAndRoot> {
    if (to < 0) return;
    const keys = { gte: slotBound(from), lt: slotBound(to + 1) };
    for await (const key of this.#store.keys(Bucket.dataBlocks, keys)) yield slotAndRootOfKey(key);
  }

  /** Returns the approximate size of all sidecars on disk. */
  diskBytes(): Promise<number> {
    return this.#store.bytesOf(Bucket.dataSidecars);
  }
}

export class DataWrites {
  readonly #batch: WriteBatch;

  constructor(batch: WriteBatch) {
    this.#batch = batch;
  }

  put(block: SlotAndRoot, index: number, sidecar: Uint8Array): void {
    this.putBlock(block);
    this.#batch.put(Bucket.dataSidecars, sidecarKey(block.root, index), withChecksum(sidecar));
  }

  /** Adds the block to the index of blocks with sidecars. */
  putBlock({ slot, root }: SlotAndRoot): void {
    this.#batch.put(Bucket.dataBlocks, slotAndRootKey(slot, root), new Uint8Array());
  }

  /** Deletes the block and its sidecars. `indices` must list all sidecars stored for the block. */
  delete({ slot, root }: SlotAndRoot, indices: readonly number[]): void {
    for (const index of indices) this.deleteSidecar(root, index);
    this.#batch.delete(Bucket.dataBlocks, slotAndRootKey(slot, root));
  }

  deleteSidecar(root: Root, index: number): void {
    this.#batch.delete(Bucket.dataSidecars, sidecarKey(root, index));
  }
}

function sidecarKey(root: Root, index: number): Uint8Array {
  const key = new Uint8Array(ROOT_BYTES + INDEX_BYTES);
  key.set(rootBytes(root));
  new DataView(key.buffer).setUint16(ROOT_BYTES, index);
  return key;
}

function indexOfKey(key: Uint8Array): number {
  return new DataView(key.buffer, key.byteOffset).getUint16(ROOT_BYTES);
}

function rangeOf(root: Root): { gte: Uint8Array; lte: Uint8Array } {
  return { gte: sidecarKey(root, 0), lte: sidecarKey(root, MAX_INDEX) };
}
