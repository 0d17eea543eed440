import { computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { RootHex } from "@lodestar/types";
import type { BeaconDb } from "../db/beacon-db.ts";
import type { SlotAndRoot } from "../db/keys.ts";
import type { Logger } from "../log/logger.ts";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import type { PayloadVerification } from "./fork-choice/payloads/payload-verification.ts";
import { type CountedVotes, countedVotes, putCountedVotes } from "./fork-choice/stored-fork-choice.ts";
import { type Checkpoint, sameCheckpoint } from "./fork-choice/types.ts";
import type { PreparedSnapshot, SnapshotStore } from "./states/snapshot-store.ts";
import type { SnapshotWriter } from "./states/snapshot-writer.ts";
import type { StateStore } from "./states/state-store.ts";

/** If at least this many epochs are finalized at once, the database is compacted immediately. */
const LONG_WITHOUT_FINALITY_EPOCHS = 32;

interface FinalityArchiverParts {
  db: BeaconDb;
  forkChoice: ForkChoice;
  states: StateStore;
  snapshots: SnapshotStore;
  snapshotWriter: SnapshotWriter;
  payloads: PayloadVerification;
  logger: Logger;
}

/**
 * Moves finalized blocks from fork choice to the finalized part of the database, in one atomic write together with the
 * checkpoint's state. After a crash before that write, the node resumes from the previous checkpoint.
 */
export class FinalityArchiver {
  readonly #db: BeaconDb;
  readonly #forkChoice: ForkChoice;
  readonly #states: StateStore;
  readonly #snapshots: SnapshotStore;
  readonly #snapshotWriter: SnapshotWriter;
  readonly #payloads: PayloadVerification;
  readonly #logger: Logger;
  #archived: Checkpoint;
  #compaction: Promise<void> = Promise.resolve();

  constructor(parts: FinalityArchiverParts, archived: Checkpoint) {
    this.#db = parts.db;
    this.#forkChoice = parts.forkChoice;
    this.#states = parts.states;
    this.#snapshots = parts.snapshots;
    this.#snapshotWriter = parts.snapshotWriter;
    this.#payloads = parts.payloads;
    this.#logger = parts.logger;
    this.#archived = archived;
  }

  get isBehind(): boolean {
    return this.#forkChoice.finalized.epoch > this.#archived.epoch;
  }

  capture(): Checkpoint {
    return this.#archived;
  }

  /** Resets to a checkpoint after the database has been reverted. */
  restore(archived: Checkpoint): void {
    this.#archived = archived;
  }

  /** Starts archiving up to the finalized checkpoint and returns its state. */
  async archive() {
    const { finalized, state } = await this.#finalizedState();
    const previous = this.#archived;
    const votes = countedVotes(this.#forkChoice);
    await this.#snapshotWriter.begin({
      blockRoot: finalized.root,
      state,
      commit: async (snapshot) => {
        await this.#commit(finalized, snapshot, votes);
        if (finalized.epoch - previous.epoch >= LONG_WITHOUT_FINALITY_EPOCHS) this.#compact();
      },
    });
    this.#archived = finalized;
    return { checkpoint: finalized, state };
  }

  async #commit(finalized: Checkpoint, snapshot: PreparedSnapshot, votes: CountedVotes): Promise<void> {
    const batch = this.#db.batch();
    // Must precede the deletions, which could delete the base of this patch.
    this.#snapshots.put(batch, snapshot);
    const canonical = new Set<RootHex>();
    for (const { slot, root } of this.#forkChoice.ancestors(finalized.root)) {
      batch.finalizedBlocks.put(slot, root);
      canonical.add(root);
    }
    const orphaned: RootHex[] = [];
    for await (const { slot, root } of this.#settledBlocks(finalized)) {
      batch.hotBlocks.delete(slot, root);
      if (canonical.has(root)) continue;
      if (this.#payloads.isVerified(root)) orphaned.push(root);
      this.#snapshots.deleteAllOf(batch, root);
      batch.data.delete({ slot, root }, await this.#db.data.indices(root));
    }
    this.#snapshots.thin(batch, this.#forkChoice.ancestors(finalized.root));
    await putCountedVotes(batch, votes);
    batch.meta.putFinalized(finalized);
    const unverifiedFrom = this.#payloads.oldestUnverified(finalized.root);
    batch.meta.putUnverifiedFrom(unverifiedFrom);
    for (const root of orphaned) batch.orphanedBlocks.put(root);
    await batch.write();
    this.#payloads.onArchived(unverifiedFrom, orphaned);
    // Prune after the write, so that every block can be found at any time. If finality has advanced in the meantime,
    // fork choice keeps the blocks for the next run.
    if (sameCheckpoint(finalized, this.#forkChoice.finalized)) this.#forkChoice.prune();
  }

  /** Resolves when no background compaction is running. */
  async idle(): Promise<void> {
    await this.#compaction;
  }

  /**
   * Compacts the database. Without compaction, LevelDB reclaims the space of deleted entries only after enough new
   * writes.
   */
  #compact(): void {
    this.#compaction = this.#db.compact().catch((error: unknown) => {
      this.#logger.warn("Database compaction failed", { error });
    });
  }

  /**
   * Iterates over all blocks up to the finalized checkpoint, including blocks missing from fork choice, and over later
   * blocks that do not descend from the checkpoint.
   */
  async *#settledBlocks({ epoch, root: finalizedRoot }: Checkpoint): AsyncIterable<SlotAndRoot> {
    const firstSlot = computeStartSlotAtEpoch(epoch);
    yield* this.#db.hotBlocks.entries({ to: firstSlot });
    const descendants = new Set([finalizedRoot]);
    for (const { slot, root, parentRoot } of this.#forkChoice.all()) {
      if (slot <= firstSlot) continue;
      if (descendants.has(parentRoot)) descendants.add(root);
      else yield { slot, root };
    }
  }

  /** Retries if finality advances while the state is being regenerated. */
  async #finalizedState() {
    for (;;) {
      const { finalized } = this.#forkChoice;
      const state = await this.#states.atCheckpoint(finalized);
      if (sameCheckpoint(finalized, this.#forkChoice.finalized)) return { finalized, state };
    }
  }
}
