import type { RootHex, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { Bucket, type Root, rootBytes, slotAndRootKey, slotAndRootOfKey } from "../keys.ts";
import type { LevelStore } from "../level/level-store.ts";
import type { WriteBatch } from "../level/write-batch.ts";

/** Identifies a state: the block's post-state advanced to `slot`. */
export interface StatePosition {
  slot: Slot;
  blockRoot: RootHex;
}

/** Reads the state index: state root → position. */
export class StateIndexRepository {
  readonly #store: LevelStore;

  constructor(store: LevelStore) {
    this.#store = store;
  }

  async get(stateRoot: Root): Promise<StatePosition | null> {
    const value = await this.#store.get(Bucket.stateIndex, rootBytes(stateRoot));
    return value === null ? null : positionOf(value);
  }

  /** Iterates over all entries, in no particular order. */
  async *entries(): AsyncGenerator<StatePosition & { stateRoot: RootHex }> {
    for await (const [key, value] of this.#store.entries(Bucket.stateIndex)) {
      yield { stateRoot: toRootHex(key), ...positionOf(value) };
    }
  }
}

/** Writes the state index as part of a batch. */
export class StateIndexWrites {
  readonly #batch: WriteBatch;

  constructor(batch: WriteBatch) {
    this.#batch = batch;
  }

  put(stateRoot: Root, { slot, blockRoot }: { slot: Slot; blockRoot: Root }): void {
    this.#batch.put(Bucket.stateIndex, rootBytes(stateRoot), slotAndRootKey(slot, blockRoot));
  }

  delete(stateRoot: Root): void {
    this.#batch.delete(Bucket.stateIndex, rootBytes(stateRoot));
  }
}

/** Decodes a position from a key or value made up of slot and block root. */
export function positionOf(key: Uint8Array): StatePosition {
  const { slot, root } = slotAndRootOfKey(key);
  return { slot, blockRoot: root };
}
