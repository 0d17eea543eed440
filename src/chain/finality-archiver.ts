import { computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { BeaconDb } from "../db/beacon-db.ts";
import type { SlotAndRoot } from "../db/keys.ts";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import { type Checkpoint, sameCheckpoint } from "./fork-choice/types.ts";
import type { SnapshotStore } from "./states/snapshot-store.ts";
import type { StateStore } from "./states/state-store.ts";

const DEFAULT_SNAPSHOT_INTERVAL_EPOCHS = 32;

interface FinalityArchiverParts {
  db: BeaconDb;
  forkChoice: ForkChoice;
  states: StateStore;
  snapshots: SnapshotStore;
  /** How many epochs lie between two stored states of finalized history. */
  snapshotIntervalEpochs?: number;
}

/** Moves what became final out of fork choice into the database's finalized part, in one atomic write. */
export class FinalityArchiver {
  readonly #db: BeaconDb;
  readonly #forkChoice: ForkChoice;
  readonly #states: StateStore;
  readonly #snapshots: SnapshotStore;
  readonly #snapshotIntervalEpochs: number;
  #archived: Checkpoint;

  constructor(parts: FinalityArchiverParts, archived: Checkpoint) {
    this.#db = parts.db;
    this.#forkChoice = parts.forkChoice;
    this.#states = parts.states;
    this.#snapshots = parts.snapshots;
    this.#snapshotIntervalEpochs = parts.snapshotIntervalEpochs ?? DEFAULT_SNAPSHOT_INTERVAL_EPOCHS;
    this.#archived = archived;
  }

  get isBehind(): boolean {
    return this.#forkChoice.finalized.epoch > this.#archived.epoch;
  }

  /** Archives up to the finalized checkpoint and returns the checkpoint's state. */
  async archive() {
    const { finalized, state } = await this.#finalizedState();
    const batch = this.#db.batch();
    for await (const { slot, root } of this.#settledBlocks(finalized)) batch.hotBlocks.delete(slot, root);
    for (const { slot, root } of this.#forkChoice.ancestors(finalized.root)) batch.finalizedBlocks.put(slot, root);
    if (this.#isSuperseded(this.#archived, finalized)) {
      this.#snapshots.delete(batch, {
        slot: computeStartSlotAtEpoch(this.#archived.epoch),
        blockRoot: this.#archived.root,
      });
    }
    this.#snapshots.put(batch, finalized.root, state);
    batch.meta.putFinalized(finalized);
    await batch.write();
    // Only now, so that every block can be found in one place or the other. A tick may have finalized more in the
    // meantime; then fork choice keeps what the next call is to archive.
    if (sameCheckpoint(finalized, this.#forkChoice.finalized)) this.#forkChoice.prune();
    this.#archived = finalized;
    return { checkpoint: finalized, state };
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

  /** The last state of each interval stays. */
  #isSuperseded(previous: Checkpoint, next: Checkpoint): boolean {
    const interval = (epoch: number) => Math.floor(epoch / this.#snapshotIntervalEpochs);
    return interval(previous.epoch) === interval(next.epoch);
  }
}
