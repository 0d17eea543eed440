import type { RootHex } from "@lodestar/types";
import type { SerialQueue } from "../../async/serial-queue.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { Logger } from "../../log/logger.ts";
import type { ChainEvents } from "../events.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { DataAvailability } from "./data-availability.ts";

/** Number of blocks per write in the chain's change queue. */
const BLOCKS_PER_WRITE = 8;

export interface LateSidecarsParts {
  db: BeaconDb;
  forkChoice: Pick<ForkChoice, "get" | "has">;
  data: DataAvailability;
  events: Pick<ChainEvents, "on">;
  /** Queue that serializes all changes to the chain. */
  changes: SerialQueue;
  logger: Logger;
}

/**
 * Stores sidecars that arrive after their block was imported, such as columns that were not required for import. Since
 * gloas, they stay in the pool until the payload is imported, which requires them and stores them. Sidecars that arrive during a write are batched. Sidecars stay pooled until they are stored.
 */
export class LateSidecars {
  readonly #parts: LateSidecarsParts;
  readonly #blocks = new Set<RootHex>();
  readonly #stop: (() => void)[];
  #writing: Promise<void> | null = null;

  constructor(parts: LateSidecarsParts) {
    this.#parts = parts;
    const { data, events } = parts;
    this.#stop = [
      data.pool.onAdded((root) => this.#lookAfter(root)),
      // Sidecars may have arrived while the block was being stored.
      events.on("block", ({ root }) => this.#lookAfter(root)),
      events.on("payload", ({ root }) => this.#lookAfter(root)),
    ];
  }

  /** Resolves when all pending sidecars are stored. */
  async close(): Promise<void> {
    for (const stop of this.#stop) stop();
    await this.#writing;
  }

  #lookAfter(root: RootHex): void {
    const { forkChoice, data } = this.#parts;
    const block = forkChoice.get(root);
    if (!block || block.execution.status === "absent" || data.pool.count(root) === 0) return;
    this.#blocks.add(root);
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null;
    });
  }

  async #writeAll(): Promise<void> {
    while (this.#blocks.size > 0) {
      const roots = [...this.#blocks].slice(0, BLOCKS_PER_WRITE);
      for (const root of roots) this.#blocks.delete(root);
      try {
        await this.#parts.changes.run(() => this.#write(roots));
      } catch (error) {
        this.#parts.logger.error("Failed to store late sidecars", { error });
      }
    }
  }

  async #write(roots: readonly RootHex[]): Promise<void> {
    const { db, forkChoice, data } = this.#parts;
    const batch = db.batch();
    const sidecarsByRoot = new Map(roots.map((root) => [root, data.pool.all(root)]));
    for (const [root, sidecars] of sidecarsByRoot) {
      const block = forkChoice.get(root);
      if (block) await data.store(batch, block, sidecars);
    }
    await batch.write();
    for (const [root, sidecars] of sidecarsByRoot) data.pool.delete(root, sidecars);
  }
}
