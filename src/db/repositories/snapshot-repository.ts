import type { Slot } from "@lodestar/types";
import { DatabaseCorruptError } from "../errors.ts";
import { Bucket, type Root, slotAndRootKey } from "../keys.ts";
import type { LevelStore } from "../level/level-store.ts";
import type { WriteBatch } from "../level/write-batch.ts";
import { applyCompressedPatch } from "./snapshot-compression.ts";
import { positionOf, type StatePosition } from "./state-repositories.ts";

/** Metadata of a state stored as a compressed patch in several entries. */
export interface Packing {
  /** SSZ size of the state. */
  size: number;
  parts: number;
  /**
   * State that the patch applies to; null if the patch is self-contained. A base is always stored as a self-contained
   * patch.
   */
  base: StatePosition | null;
  /** True if the state is kept only because other states are patches of it. */
  isOnlyBase: boolean;
}

export interface StoredSnapshot extends StatePosition {
  /** Null for a state stored as plain SSZ. */
  packing: Packing | null;
}

/** Full states. The states in between are replayed from blocks. */
export class SnapshotRepository {
  readonly #store: LevelStore;

  constructor(store: LevelStore) {
    this.#store = store;
  }

  /**
   * Returns the SSZ-encoded state. Throws a `DatabaseCorruptError` if the state or the base of its patch is damaged or
   * missing.
   */
  async get(slot: Slot, blockRoot: Root): Promise<Uint8Array | null> {
    const packing = await this.#packing(slot, blockRoot);
    return packing ? this.#unpack(slot, blockRoot, packing) : this.#plain(slot, blockRoot);
  }

  /** In slot order. */
  async *keys(): AsyncGenerator<StatePosition> {
    for await (const { slot, blockRoot } of this.entries()) yield { slot, blockRoot };
  }

  /** In slot order. */
  async *entries(): AsyncGenerator<StoredSnapshot> {
    const snapshots: StoredSnapshot[] = [];
    for await (const key of this.#store.keys(Bucket.snapshots)) snapshots.push({ ...positionOf(key), packing: null });
    for await (const [key, value] of this.#store.entries(Bucket.packedSnapshots)) {
      snapshots.push({ ...positionOf(key), packing: this.#read(value) });
    }
    yield* snapshots.sort((a, b) => a.slot - b.slot || (a.blockRoot < b.blockRoot ? -1 : 1));
  }

  /** Iterates over the positions of all parts, including those of incomplete writes. */
  async *partKeys(): AsyncGenerator<StatePosition & { part: number }> {
    for await (const key of this.#store.keys(Bucket.snapshotParts)) {
      const part = new DataView(key.buffer, key.byteOffset).getUint32(POSITION_BYTES);
      yield { ...positionOf(key.subarray(0, POSITION_BYTES)), part };
    }
  }

  #plain(slot: Slot, blockRoot: Root): Promise<Uint8Array | null> {
    return this.#store.get(Bucket.snapshots, slotAndRootKey(slot, blockRoot));
  }

  async #packing(slot: Slot, blockRoot: Root): Promise<Packing | null> {
    const value = await this.#store.get(Bucket.packedSnapshots, slotAndRootKey(slot, blockRoot));
    return value && this.#read(value);
  }

  #read(value: Uint8Array): Packing {
    try {
      const { size, parts, base, isOnlyBase } = JSON.parse(new TextDecoder().decode(value)) as Packing;
      return { size, parts, base: base && { slot: base.slot, blockRoot: base.blockRoot }, isOnlyBase };
    } catch {
      throw new DatabaseCorruptError(this.#store.path, "the metadata of a stored state cannot be parsed");
    }
  }

  async #unpack(slot: Slot, blockRoot: Root, { size, base, parts }: Packing): Promise<Uint8Array> {
    try {
      const baseBytes = base ? await this.#base(slot, base) : new Uint8Array();
      return await applyCompressedPatch(this.#parts(slot, blockRoot, parts), baseBytes, size);
    } catch (error) {
      if (error instanceof DatabaseCorruptError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new DatabaseCorruptError(this.#store.path, `the state of slot ${slot} cannot be read: ${reason}`);
    }
  }

  async #base(slot: Slot, base: StatePosition): Promise<Uint8Array> {
    const packing = await this.#packing(base.slot, base.blockRoot);
    // A base is never a patch itself.
    if (packing?.base === null) return this.#unpack(base.slot, base.blockRoot, packing);
    const bytes = packing ? null : await this.#plain(base.slot, base.blockRoot);
    if (bytes) return bytes;
    const reason = `the state of slot ${base.slot}, the base of that of slot ${slot}, is missing`;
    throw new DatabaseCorruptError(this.#store.path, reason);
  }

  async *#parts(slot: Slot, blockRoot: Root, parts: number): AsyncGenerator<Uint8Array> {
    for (let part = 0; part < parts; part++) {
      const bytes = await this.#store.get(Bucket.snapshotParts, partKey(slot, blockRoot, part));
      if (!bytes) throw new DatabaseCorruptError(this.#store.path, `a part of the state of slot ${slot} is missing`);
      yield bytes;
    }
  }
}

export class SnapshotWrites {
  readonly #batch: WriteBatch;

  constructor(batch: WriteBatch) {
    this.#batch = batch;
  }

  /** Stores a state as plain SSZ. */
  put(slot: Slot, blockRoot: Root, state: Uint8Array): void {
    this.#batch.put(Bucket.snapshots, slotAndRootKey(slot, blockRoot), state);
  }

  /** Stores a part. `putPacking` makes the state visible. */
  putPart(slot: Slot, blockRoot: Root, part: number, bytes: Uint8Array): void {
    this.#batch.put(Bucket.snapshotParts, partKey(slot, blockRoot, part), bytes);
  }

  putPacking(slot: Slot, blockRoot: Root, packing: Packing): void {
    const value = new TextEncoder().encode(JSON.stringify(packing));
    this.#batch.put(Bucket.packedSnapshots, slotAndRootKey(slot, blockRoot), value);
  }

  deletePart(slot: Slot, blockRoot: Root, part: number): void {
    this.#batch.delete(Bucket.snapshotParts, partKey(slot, blockRoot, part));
  }

  /** Deletes a state. No other state may be a patch of it. */
  delete({ slot, blockRoot, packing }: StoredSnapshot): void {
    const key = slotAndRootKey(slot, blockRoot);
    if (!packing) {
      this.#batch.delete(Bucket.snapshots, key);
      return;
    }
    this.#batch.delete(Bucket.packedSnapshots, key);
    for (let part = 0; part < packing.parts; part++) this.deletePart(slot, blockRoot, part);
  }
}

const POSITION_BYTES = 40;

function partKey(slot: Slot, blockRoot: Root, part: number): Uint8Array {
  const key = new Uint8Array(POSITION_BYTES + 4);
  key.set(slotAndRootKey(slot, blockRoot));
  new DataView(key.buffer).setUint32(POSITION_BYTES, part);
  return key;
}
