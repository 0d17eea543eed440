import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { RootHex } from "@lodestar/types";
import type { SerialQueue } from "../../async/serial-queue.ts";
import type { Logger } from "../../log/logger.ts";
import type { PreparedSnapshot, SnapshotStore } from "./snapshot-store.ts";

interface SnapshotWriterParts {
  snapshots: SnapshotStore;
  /** Queue that serializes all changes to the chain. */
  changes: SerialQueue;
  logger: Logger;
}

/** A state to store. */
interface SnapshotJob {
  blockRoot: RootHex;
  state: CachedBeaconStateAllForks;
  /** Commits the prepared snapshot together with changes that depend on it. Runs in the change queue. */
  commit(snapshot: PreparedSnapshot): Promise<void>;
}

/**
 * Stores states in the background, one at a time. Only the short commit runs in the change queue. A second state waits
 * for the first.
 */
export class SnapshotWriter {
  readonly #snapshots: SnapshotStore;
  readonly #changes: SerialQueue;
  readonly #logger: Logger;
  #pendingWrite: { job: SnapshotJob; prepared: Promise<PreparedSnapshot> } | null = null;

  constructor({ snapshots, changes, logger }: SnapshotWriterParts) {
    this.#snapshots = snapshots;
    this.#changes = changes;
    this.#logger = logger;
  }

  /** True while a state of this block is being stored. */
  isStoring(blockRoot: RootHex): boolean {
    return this.#pendingWrite?.job.blockRoot === blockRoot;
  }

  /** Starts storing a state. Resolves once the previous state is stored. Must be called in the change queue. */
  async begin(job: SnapshotJob): Promise<void> {
    await this.finish();
    const prepared = this.#snapshots.prepare(job.blockRoot, job.state);
    const pendingWrite = { job, prepared };
    this.#pendingWrite = pendingWrite;
    const isPending = () => this.#pendingWrite === pendingWrite;
    prepared
      .then(() => this.#changes.run(() => (isPending() ? this.finish() : undefined)))
      .catch((error: unknown) => {
        if (isPending()) this.#pendingWrite = null;
        this.#logger.warn("Failed to store a state", { slot: job.state.slot, error });
      });
  }

  /** Waits for the pending state. Must be called in the change queue. */
  async finish(): Promise<void> {
    const pendingWrite = this.#pendingWrite;
    if (!pendingWrite) return;
    this.#pendingWrite = null;
    await pendingWrite.job.commit(await pendingWrite.prepared);
  }
}
