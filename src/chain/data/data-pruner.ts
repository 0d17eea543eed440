import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import type { SerialQueue } from "../../async/serial-queue.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { SlotAndRoot } from "../../db/keys.ts";
import type { Logger } from "../../log/logger.ts";
import type { DataAvailability } from "./data-availability.ts";

/** Number of blocks pruned per task in the chain's change queue, which keeps the tasks short. */
const BLOCKS_PER_SLICE = 8;

export interface DataPrunerParts {
  db: BeaconDb;
  data: Pick<DataAvailability, "isWithinWindow">;
  /** Queue that serializes all changes to the chain. */
  changes: SerialQueue;
  logger: Logger;
}

/** Deletes sidecars outside the retention window once per epoch, in slices. */
export class DataPruner {
  readonly #parts: DataPrunerParts;
  #pruning: Promise<void> | null = null;
  #isClosed = false;

  constructor(parts: DataPrunerParts) {
    this.#parts = parts;
  }

  onSlot(slot: Slot): void {
    if (slot % SLOTS_PER_EPOCH === 0) this.begin();
  }

  /** Starts pruning unless it is already running. */
  begin(): void {
    if (this.#isClosed) return;
    this.#pruning ??= this.#prune()
      .catch((error: unknown) => this.#parts.logger.error("Failed to prune old sidecars", { error }))
      .finally(() => {
        this.#pruning = null;
      });
  }

  /** Resolves when no pruning is running. */
  async idle(): Promise<void> {
    await this.#pruning;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pruning;
  }

  async #prune(): Promise<void> {
    let blocks = 0;
    for (let deleted = 1; deleted > 0 && !this.#isClosed; blocks += deleted) {
      deleted = await this.#parts.changes.run(() => this.#pruneSlice());
    }
    if (blocks > 0) this.#parts.logger.debug("Pruned old sidecars", { blocks });
  }

  async #pruneSlice(): Promise<number> {
    const { db } = this.#parts;
    const batch = db.batch();
    const old = await this.#oldest();
    for (const block of old) batch.data.delete(block, await db.data.indices(block.root));
    if (old.length > 0) await batch.write();
    return old.length;
  }

  /**
   * Returns the oldest blocks outside the retention window. If the retention window for blobs is longer, it also
   * applies to columns.
   */
  async #oldest(): Promise<SlotAndRoot[]> {
    const old: SlotAndRoot[] = [];
    for await (const block of this.#parts.db.data.blocks()) {
      if (old.length === BLOCKS_PER_SLICE || this.#parts.data.isWithinWindow(block.slot)) break;
      old.push(block);
    }
    return old;
  }
}
