import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { RootHex } from "@lodestar/types";
import type { Logger } from "../../log/logger.ts";
import type { SerialQueue } from "../serial-queue.ts";
import type { PreparedSnapshot, SnapshotStore } from "./snapshot-store.ts";

interface SnapshotWriterParts {
  snapshots: SnapshotStore;
  /** Everything that changes the chain. */
  changes: SerialQueue;
  logger: Logger;
}

/** A state to be stored. */
interface SnapshotJob {
  blockRoot: RootHex;
  state: CachedBeaconStateAllForks;
  /** Puts the state into the database, together with what is to be true from then on. Runs in the queue of changes. */
  commit(snapshot: PreparedSnapshot): Promise<void>;
}

/**
 * Stores states behind the chain's back, one at a time: only the last and short step waits for its turn in the queue of changes,
 * and what comes in the meantime is not held up. Whoever has another state to store before the last one is done waits for it.
 */
export class SnapshotWriter {
  readonly #snapshots: SnapshotStore;
  readonly #changes: SerialQueue;
  readonly #logger: Logger;
  #underway: { job: SnapshotJob; prepared: Promise<PreparedSnapshot> } | null = null;

  constructor({ snapshots, changes, logger }: SnapshotWriterParts) {
    this.#snapshots = snapshots;
    this.#changes = changes;
    this.#logger = logger;
  }

  /** Whether a state after that block is being stored. */
  isStoring(blockRoot: RootHex): boolean {
    return this.#underway?.job.blockRoot === blockRoot;
  }

  /** To be called in the queue of changes; resolves when the state before is stored, not when this one is. */
  async begin(job: SnapshotJob): Promise<void> {
    await this.finish();
    const prepared = this.#snapshots.prepare(job.blockRoot, job.state);
    const underway = { job, prepared };
    this.#underway = underway;
    const isUnderway = () => this.#underway === underway;
    prepared
      .then(() => this.#changes.run(() => (isUnderway() ? this.finish() : undefined)))
      .catch((error: unknown) => {
        if (isUnderway()) this.#underway = null;
        this.#logger.warn("A state could not be stored", { slot: job.state.slot, error });
      });
  }

  /** Stores what is under way; to be called in the queue of changes. */
  async finish(): Promise<void> {
    const underway = this.#underway;
    if (!underway) return;
    this.#underway = null;
    await underway.job.commit(await underway.prepared);
  }
}
