import type { RootHex } from "@lodestar/types";
import { ALL_COLUMNS, columnSidecarsOf } from "../../data/column-sidecars.ts";
import { isColumn, slotOfSidecar } from "../../data/sidecar.ts";
import type { Logger } from "../../log/logger.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { LruMap } from "../lru-map.ts";
import { SerialQueue } from "../serial-queue.ts";
import { ENOUGH_COLUMNS, recoverBlobs } from "./blobs-of-block.ts";
import type { DataAvailability } from "./data-availability.ts";
import type { SidecarProcessor } from "./sidecar-processor.ts";

/** What others are still sending comes within a second of slots of twelve. */
const PATIENCE_SLOTS = 1 / 12;

/** More blocks than can lack columns at the same time. */
const REMEMBERED_BLOCKS = 256;

export interface ReconstructionParts {
  clock: Pick<Clock, "nowSeconds" | "secondsPerSlot" | "untilTime">;
  forkChoice: Pick<ForkChoice, "has">;
  data: Pick<DataAvailability, "pool" | "custody" | "kzg">;
  sidecars: Pick<SidecarProcessor, "made">;
  logger: Logger;
}

/**
 * Makes the columns of a block that do not come of those that came, once these are half of all (fulu/das-core.md, Reconstruction and
 * cross-seeding). Only a node that keeps at least half can have so many. One that lacks none of its own makes none for others: a
 * supernode will.
 */
export class Reconstruction {
  readonly #parts: ReconstructionParts;
  readonly #begun = new LruMap<RootHex, true>(REMEMBERED_BLOCKS);
  /** Each takes the computing power of a machine for a second or more. */
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
    if (this.#begun.get(root) || !this.#canBeCompleted(root)) return;
    this.#begun.set(root, true);
    // It never rejects.
    void this.#completeLater(root);
  }

  /** A block that is on the chain had all that it needs. */
  #canBeCompleted(root: RootHex): boolean {
    const { forkChoice, data } = this.#parts;
    const { pool, custody } = data;
    if (custody.columns.length < ENOUGH_COLUMNS || pool.count(root) < ENOUGH_COLUMNS) return false;
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
      if (!signal.aborted) logger.warn("The columns that a block lacks could not be made", { root, error });
    }
  }

  async #complete(root: RootHex): Promise<void> {
    const { data, sidecars, logger } = this.#parts;
    if (this.#closing.signal.aborted || !this.#canBeCompleted(root)) return;
    const columns = data.pool.all(root).filter(isColumn);
    const [first] = columns;
    if (first === undefined) return;
    const blobs = await recoverBlobs(data.kzg, columns);
    // Whatever was missing may have come meanwhile.
    if (this.#closing.signal.aborted || !this.#canBeCompleted(root)) return;
    const missing = ALL_COLUMNS.filter((column) => !data.pool.has(root, column));
    logger.debug("Columns were reconstructed", { slot: slotOfSidecar(first), root, count: missing.length });
    sidecars.made(columnSidecarsOf(first, blobs, missing));
  }
}
