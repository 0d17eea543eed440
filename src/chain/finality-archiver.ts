import { computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { RootHex } from "@lodestar/types";
import type { BeaconDb } from "../db/beacon-db.ts";
import type { SlotAndRoot } from "../db/keys.ts";
import type { Logger } from "../log/logger.ts";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import { type Checkpoint, sameCheckpoint } from "./fork-choice/types.ts";
import type { PayloadVerification } from "./payload-verification.ts";
import type { PreparedSnapshot, SnapshotStore } from "./states/snapshot-store.ts";
import type { SnapshotWriter } from "./states/snapshot-writer.ts";
import type { StateStore } from "./states/state-store.ts";
import { type CountedVotes, countedVotes, putCountedVotes } from "./stored-fork-choice.ts";

/** So many epochs that become final at once leave a hole in the database that is worth being closed at once. */
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
 * Moves what became final out of fork choice into the database's finalized part, in one atomic write. That comes when the state of
 * the checkpoint is ready to be stored with it; a start before then finds the checkpoint before, and what is final since by the
 * blocks after it.
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

  /** What was archived after that checkpoint is not in the database any more. */
  restore(archived: Checkpoint): void {
    this.#archived = archived;
  }

  /** Begins to archive up to the finalized checkpoint and returns the checkpoint's state. */
  async archive() {
    const { finalized, state } = await this.#finalizedState();
    const before = this.#archived;
    const votes = countedVotes(this.#forkChoice);
    await this.#snapshotWriter.begin({
      blockRoot: finalized.root,
      state,
      commit: async (snapshot) => {
        await this.#commit(finalized, snapshot, votes);
        if (finalized.epoch - before.epoch >= LONG_WITHOUT_FINALITY_EPOCHS) this.#compact();
      },
    });
    this.#archived = finalized;
    return { checkpoint: finalized, state };
  }

  async #commit(finalized: Checkpoint, snapshot: PreparedSnapshot, votes: CountedVotes): Promise<void> {
    const batch = this.#db.batch();
    // Before any is deleted, so that the one it is a patch of is not.
    this.#snapshots.put(batch, snapshot);
    const canonical = new Set<RootHex>();
    for (const { slot, root } of this.#forkChoice.ancestors(finalized.root)) {
      batch.finalizedBlocks.put(slot, root);
      canonical.add(root);
    }
    const abandoned: RootHex[] = [];
    for await (const { slot, root } of this.#settledBlocks(finalized)) {
      batch.hotBlocks.delete(slot, root);
      if (canonical.has(root)) continue;
      if (this.#payloads.isVerified(root)) abandoned.push(root);
      this.#snapshots.deleteAllOf(batch, root);
      batch.data.delete({ slot, root }, await this.#db.data.indices(root));
    }
    this.#snapshots.thin(batch, this.#forkChoice.ancestors(finalized.root));
    await putCountedVotes(batch, votes);
    batch.meta.putFinalized(finalized);
    const unverifiedFrom = this.#payloads.oldestUnverified(finalized.root);
    batch.meta.putUnverifiedFrom(unverifiedFrom);
    for (const root of abandoned) batch.abandonedBlocks.put(root);
    await batch.write();
    this.#payloads.noteArchived(unverifiedFrom, abandoned);
    // Only now, so that every block can be found in one place or the other. More may be final by now; then fork choice keeps
    // what the next call is to archive.
    if (sameCheckpoint(finalized, this.#forkChoice.finalized)) this.#forkChoice.prune();
  }

  /** Resolves when nothing is being done to the database behind the chain's back. */
  async idle(): Promise<void> {
    await this.#compaction;
  }

  /** LevelDB alone would give the room of what was deleted back only when enough is written over it. */
  #compact(): void {
    this.#compaction = this.#db.compact().catch((error: unknown) => {
      this.#logger.warn("The database could not be compacted", { error });
    });
  }

  /**
   * All blocks up to the finalized checkpoint, whether or not fork choice knows them, and those after it that do not
   * descend from it: on their fate nothing more is to be decided.
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

  /** A tick can finalize more while the state is regenerated. */
  async #finalizedState() {
    for (;;) {
      const { finalized } = this.#forkChoice;
      const state = await this.#states.atCheckpoint(finalized);
      if (sameCheckpoint(finalized, this.#forkChoice.finalized)) return { finalized, state };
    }
  }
}
