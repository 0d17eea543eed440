import type { RootHex, Slot, SyncPeriod } from "@lodestar/types";
import { Bucket, slotAndRootKey, slotAndRootOfKey, slotBound, slotKey, slotOfKey } from "../keys.ts";
import type { LevelStore } from "../level/level-store.ts";

interface StoredLightClientUpdate {
  /** Slot of the attested header; determines the fork of the update. */
  attestedSlot: Slot;
  /** Block that contains the update's sync aggregate. */
  blockRoot: RootHex;
  bytes: Uint8Array;
}

const POSITION_BYTES = 40;

/** Best light client update for each sync committee period. */
export class LightClientRepository {
  readonly #store: LevelStore;

  constructor(store: LevelStore) {
    this.#store = store;
  }

  async get(period: SyncPeriod): Promise<StoredLightClientUpdate | null> {
    const value = await this.#store.get(Bucket.lightClientUpdates, slotKey(period));
    if (value === null) return null;
    const { slot, root } = slotAndRootOfKey(value.subarray(0, POSITION_BYTES));
    return { attestedSlot: slot, blockRoot: root, bytes: value.subarray(POSITION_BYTES) };
  }

  /** Returns the first period at or after `period` that has an update. */
  async firstPeriodFrom(period: SyncPeriod): Promise<SyncPeriod | null> {
    for await (const key of this.#store.keys(Bucket.lightClientUpdates, { gte: slotBound(period), limit: 1 })) {
      return slotOfKey(key);
    }
    return null;
  }

  /** Atomically stores a period's update and deletes all updates before `oldestKept`. */
  async put(period: SyncPeriod, update: StoredLightClientUpdate, oldestKept: SyncPeriod): Promise<void> {
    const value = new Uint8Array(POSITION_BYTES + update.bytes.length);
    value.set(slotAndRootKey(update.attestedSlot, update.blockRoot));
    value.set(update.bytes, POSITION_BYTES);
    const batch = this.#store.batch();
    batch.put(Bucket.lightClientUpdates, slotKey(period), value);
    if (oldestKept > 0) {
      for await (const key of this.#store.keys(Bucket.lightClientUpdates, { lt: slotKey(oldestKept) })) {
        batch.delete(Bucket.lightClientUpdates, key);
      }
    }
    await batch.write();
  }
}
