import { computeEpochAtSlot, computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { RootHex } from "@lodestar/types";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { type CountedVotes, countedVotes, putCountedVotes } from "../fork-choice/stored-fork-choice.ts";
import type { ForkChoiceBlock } from "../fork-choice/types.ts";
import type { PreparedSnapshot, SnapshotStore } from "./snapshot-store.ts";
import type { SnapshotWriter } from "./snapshot-writer.ts";
import type { StateStore } from "./state-store.ts";

/** Maximum epochs without a stored state on a branch. Not reached during normal finality. */
const HOT_INTERVAL_EPOCHS = 8;

interface HotSnapshotsParts {
  db: BeaconDb;
  forkChoice: ForkChoice;
  snapshots: SnapshotStore;
  snapshotWriter: SnapshotWriter;
  states: StateStore;
}

/**
 * Stores snapshots of unfinalized chains, so that restarts and historical reads do not replay everything during long
 * periods without finality. Each long-lived branch gets its own snapshots. Calls must not overlap; the chain queues
 * them.
 */
export class HotSnapshots {
  readonly #db: BeaconDb;
  readonly #forkChoice: ForkChoice;
  readonly #snapshots: SnapshotStore;
  readonly #snapshotWriter: SnapshotWriter;
  readonly #states: StateStore;

  constructor({ db, forkChoice, snapshots, snapshotWriter, states }: HotSnapshotsParts) {
    this.#db = db;
    this.#forkChoice = forkChoice;
    this.#snapshots = snapshots;
    this.#snapshotWriter = snapshotWriter;
    this.#states = states;
  }

  /** Starts storing the post-state of an imported block if a snapshot is due on its branch. */
  async offer(root: RootHex): Promise<void> {
    const block = this.#forkChoice.get(root);
    if (!block || !this.#isDue(block)) return;
    const state = await this.#states.afterBlock(root);
    const votes = countedVotes(this.#forkChoice);
    await this.#snapshotWriter.begin({
      blockRoot: root,
      state,
      commit: (snapshot) => this.#commit(root, snapshot, votes),
    });
  }

  /** Commits the snapshot unless its block has been pruned. */
  async #commit(root: RootHex, snapshot: PreparedSnapshot, votes: CountedVotes): Promise<void> {
    const block = this.#forkChoice.get(root);
    const batch = this.#db.batch();
    if (block) {
      this.#snapshots.put(batch, snapshot);
      this.#snapshots.thin(batch, this.#earlierIntervals(block));
      await putCountedVotes(batch, votes);
    } else {
      this.#snapshots.discard(batch, snapshot);
    }
    await batch.write();
  }

  /** Returns true if a snapshot is due. Ignores a branch until it has been non-canonical for one interval. */
  #isDue(block: ForkChoiceBlock): boolean {
    const fork = this.#forkChoice.commonAncestor(block.root, this.#forkChoice.head.root);
    if (fork && fork.root !== block.root && !isFarFrom(fork, block)) return false;
    for (const ancestor of this.#forkChoice.ancestors(block.root)) {
      if (isFarFrom(ancestor, block)) return true;
      if (this.#snapshots.has(ancestor.root) || this.#snapshotWriter.isStoring(ancestor.root)) return false;
    }
    return false;
  }

  /** Yields the unfinalized ancestors from earlier snapshot intervals, newest first. */
  *#earlierIntervals(block: ForkChoiceBlock): Generator<ForkChoiceBlock> {
    const interval = this.#snapshots.intervalOf(block.slot);
    const finalizedSlot = computeStartSlotAtEpoch(this.#forkChoice.finalized.epoch);
    for (const ancestor of this.#forkChoice.ancestors(block.root)) {
      if (ancestor.slot <= finalizedSlot) return;
      if (this.#snapshots.intervalOf(ancestor.slot) < interval) yield ancestor;
    }
  }
}

function isFarFrom(ancestor: ForkChoiceBlock, block: ForkChoiceBlock): boolean {
  return computeEpochAtSlot(block.slot) - computeEpochAtSlot(ancestor.slot) >= HOT_INTERVAL_EPOCHS;
}
