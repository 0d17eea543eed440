import type { RootHex } from "@lodestar/types";
import { SerialQueue } from "../../async/serial-queue.ts";
import { LruMap } from "../../collections/lru-map.ts";
import { ALL_COLUMNS, columnSidecarsOf } from "../../data/column-sidecars.ts";
import { isColumn, slotOfSidecar } from "../../data/sidecar.ts";
import type { Logger } from "../../log/logger.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { RECOVERY_COLUMNS, recoverBlobs } from "./blobs-of-block.ts";
import type { DataAvailability } from "./data-availability.ts";
import type { SidecarProcessor } from "./sidecar-processor.ts";

/** Grace period for columns still in transit: one second of a 12-second slot. */
const PATIENCE_SLOTS = 1 / 12;

/** Exceeds the number of blocks that can lack columns at once. */
const REMEMBERED_BLOCKS = 256;

export interface ReconstructionParts {
  clock: Pick<Clock, "nowSeconds" | "secondsPerSlot" | "untilTime">;
  forkChoice: Pick<ForkChoice, "has">;
  data: Pick<DataAvailability, "pool" | "custody" | "kzg">;
  sidecars: Pick<SidecarProcessor, "publishCreated">;
  logger: Logger;
}

/**
 * Reconstructs a block's missing columns once half of its columns are available (fulu/das-core.md, Reconstruction and
 * cross-seeding). Only nodes that store at least half of all columns can do so. A node that has all its custody columns
 * leaves reconstruction to other nodes.
 */
export class Reconstruction {
  readonly #parts: ReconstructionParts;
  readonly #started = new LruMap<RootHex, true>(REMEMBERED_BLOCKS);
  /** One at a time, because each reconstruction uses all cores for a second or more. */
  readonly #turns = new SerialQueue();
  readonly #closing = new AbortController();
  readonly #stopListening: () => void;

  constructor(parts: ReconstructionParts) {
    this.#parts = parts;
    this.#stopListening = parts.data.pool.onAdded((root) => this.#consider(root));
  }

  close(): void {
    this.#stopListening();
    this.#closing.abort();
  }

  #consider(root: RootHex): void {
    if (this.#started.get(root) || !this.#canBeCompleted(root)) return;
    this.#started.set(root, true);
    // Never rejects.
    void this.#completeLater(root);
  }

  /** Returns false for imported blocks, which have all required columns. */
  #canBeCompleted(root: RootHex): boolean {
    const { forkChoice, data } = this.#parts;
    const { pool, custody } = data;
    if (custody.columns.length < RECOVERY_COLUMNS || pool.count(root) < RECOVERY_COLUMNS) return false;
    return !forkChoice.has(root) && custody.sampled.some((column) => !pool.has(root, column));
  }

  async #completeLater(root: RootHex): Promise<void> {
    const { clock, logger } = this.#parts;
    const { signal } = this.#closing;
    try {
      await clock.untilTime(clock.nowSeconds() + clock.secondsPerSlot * PATIENCE_SLOTS, signal);
    } catch {
      return;
    }
    try {
      await this.#turns.run(() => this.#complete(root));
    } catch (error) {
      if (!signal.aborted) logger.warn("Failed to reconstruct columns", { root, error });
    }
  }

  async #complete(root: RootHex): Promise<void> {
    const { data, sidecars, logger } = this.#parts;
    if (this.#closing.signal.aborted || !this.#canBeCompleted(root)) return;
    const columns = data.pool.all(root).filter(isColumn);
    const [first] = columns;
    if (first === undefined) return;
    const blobs = await recoverBlobs(data.kzg, columns);
    // Missing columns may have arrived in the meantime.
    if (this.#closing.signal.aborted || !this.#canBeCompleted(root)) return;
    const missing = ALL_COLUMNS.filter((column) => !data.pool.has(root, column));
    logger.debug("Reconstructed columns", { slot: slotOfSidecar(first), root, count: missing.length });
    sidecars.publishCreated(columnSidecarsOf(first, blobs, missing));
  }
}
