import { computeEpochAtSlot, computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { RootHex } from "@lodestar/types";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { ForkChoiceBlock } from "../fork-choice/types.ts";
import { type CountedVotes, countedVotes, putCountedVotes } from "../stored-fork-choice.ts";
import type { PreparedSnapshot, SnapshotStore } from "./snapshot-store.ts";
import type { SnapshotWriter } from "./snapshot-writer.ts";
import type { StateStore } from "./state-store.ts";

/** How far a chain goes on without a stored state. While finality keeps up, its own stored state is never that far behind. */
const HOT_INTERVAL_EPOCHS = 8;

interface HotSnapshotsParts {
  db: BeaconDb;
  forkChoice: ForkChoice;
  snapshots: SnapshotStore;
  snapshotWriter: SnapshotWriter;
  states: StateStore;
}

/**
 * Stores states of the chain that is not final yet, so that neither a start nor a look back has to replay all of a long
 * time without finality. Every branch that lasts has its own. Calls must not overlap; the chain queues them.
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

  /** Begins to store the state after a block that was imported, if it is time for one on the block's branch. */
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

  /** The block's branch may have been left behind in the meantime. */
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

  /** A branch is young until it has been off the canonical chain for as long as a chain goes on without a stored state. */
  #isDue(block: ForkChoiceBlock): boolean {
    const fork = this.#forkChoice.commonAncestor(block.root, this.#forkChoice.head.root);
    if (fork && fork.root !== block.root && !isFarFrom(fork, block)) return false;
    for (const ancestor of this.#forkChoice.ancestors(block.root)) {
      if (isFarFrom(ancestor, block)) return true;
      if (this.#snapshots.has(ancestor.root) || this.#snapshotWriter.isStoring(ancestor.root)) return false;
    }
    return false;
  }

  /** The unfinalized blocks of the chain in intervals that the block has left behind, newest first. */
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
