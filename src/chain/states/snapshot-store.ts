import type { BeaconConfig } from "@lodestar/config";
import {
  type BeaconStateAllForks,
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
} from "@lodestar/state-transition";
import type { RootHex, Slot } from "@lodestar/types";
import { BadPubkeyError } from "../../bls/flat-pubkeys.ts";
import type { BeaconDb, BeaconDbBatch } from "../../db/beacon-db.ts";
import { DatabaseCorruptError } from "../../db/errors.ts";
import type { StatePosition } from "../../db/state-repositories.ts";
import type { Pubkeys } from "../pubkeys.ts";
import { withCaches } from "./cached-state.ts";
import type { OnRead } from "./read-state.ts";
import { readStoredState } from "./stored-state.ts";

const DEFAULT_INTERVAL_EPOCHS = 32;

interface SnapshotStoreParts {
  config: BeaconConfig;
  db: BeaconDb;
  pubkeyCache: Pubkeys;
  /** How many epochs lie between two states of a chain that are kept for good. */
  intervalEpochs?: number;
}

/**
 * Whole states in the database, from which all others can be rebuilt: state of the chain that ends in a block, right
 * after the block or advanced to an epoch's first slot.
 */
export class SnapshotStore {
  readonly #config: BeaconConfig;
  readonly #db: BeaconDb;
  readonly #pubkeyCache: Pubkeys;
  readonly #intervalEpochs: number;
  /**
   * Which snapshots exist: block root to slots, in ascending order. Few enough to be held, and asked for at every step of a
   * replay. A block has several when no other block came before the first slots of several epochs.
   */
  #slots = new Map<RootHex, Slot[]>();
  #oldest: StatePosition | null = null;

  constructor({ config, db, pubkeyCache, intervalEpochs = DEFAULT_INTERVAL_EPOCHS }: SnapshotStoreParts) {
    this.#config = config;
    this.#db = db;
    this.#pubkeyCache = pubkeyCache;
    this.#intervalEpochs = intervalEpochs;
  }

  async open(): Promise<void> {
    for await (const position of this.#db.snapshots.keys()) {
      this.#oldest ??= position;
      this.#note(position);
    }
  }

  /** The anchor, which is never deleted: the node's history of states begins with it. */
  get oldest(): StatePosition {
    if (!this.#oldest) throw new Error("The database holds no state, so it holds no chain either.");
    return this.#oldest;
  }

  has(blockRoot: RootHex): boolean {
    return this.#slots.has(blockRoot);
  }

  capture(): Map<RootHex, Slot[]> {
    return new Map(this.#slots);
  }

  /** Takes over which snapshots the database holds. */
  restore(slots: Map<RootHex, Slot[]>): void {
    this.#slots = slots;
  }

  /** Which of the spans of time a slot belongs to, of each of which one state is kept for good. */
  intervalOf(slot: Slot): number {
    return Math.floor(computeEpochAtSlot(slot) / this.#intervalEpochs);
  }

  /**
   * The latest snapshot after that block that was not advanced past the latest slot of use. Throws a `DatabaseCorruptError`
   * when what is stored is not that state.
   */
  async load(blockRoot: RootHex, latestSlot?: Slot): Promise<CachedBeaconStateAllForks | null> {
    const state = await this.read(blockRoot, { latestSlot });
    return state && this.prepare(state);
  }

  /** Makes a stored state ready for use. */
  async prepare(state: BeaconStateAllForks): Promise<CachedBeaconStateAllForks> {
    try {
      return await withCaches(state, { config: this.#config, pubkeyCache: this.#pubkeyCache });
    } catch (error) {
      throw error instanceof BadPubkeyError ? new DatabaseCorruptError(this.#db.path, error) : error;
    }
  }

  /** The same state without what is computed of it. */
  async read(
    blockRoot: RootHex,
    { latestSlot = Number.POSITIVE_INFINITY, onRead }: { latestSlot?: Slot; onRead?: OnRead } = {},
  ): Promise<BeaconStateAllForks | null> {
    const slot = this.#slots.get(blockRoot)?.findLast((stored) => stored <= latestSlot);
    if (slot === undefined) return null;
    const bytes = await this.#db.snapshots.get(slot, blockRoot);
    if (!bytes) return null;
    return readStoredState({ config: this.#config, db: this.#db }, { slot, blockRoot }, bytes, onRead);
  }

  put(batch: BeaconDbBatch, blockRoot: RootHex, state: CachedBeaconStateAllForks): void {
    batch.snapshots.put(state.slot, blockRoot, state.serialize());
    this.#note({ slot: state.slot, blockRoot });
  }

  /** Deletes the snapshot of a position, if there is one. The anchor stays. */
  delete(batch: BeaconDbBatch, { slot, blockRoot }: StatePosition): void {
    if (this.#oldest?.slot === slot && this.#oldest.blockRoot === blockRoot) return;
    batch.snapshots.delete(slot, blockRoot);
    const others = this.#slotsOtherThan(slot, blockRoot);
    if (others.length > 0) this.#slots.set(blockRoot, others);
    else this.#slots.delete(blockRoot);
  }

  deleteAllOf(batch: BeaconDbBatch, blockRoot: RootHex): void {
    for (const slot of this.#slots.get(blockRoot) ?? []) this.delete(batch, { slot, blockRoot });
  }

  /**
   * Of the snapshots along a chain, whose blocks come newest first, only the last of each interval stays, and the
   * anchor.
   */
  thin(batch: BeaconDbBatch, chain: Iterable<{ root: RootHex }>): void {
    let laterInterval: number | undefined;
    for (const { root } of chain) {
      for (const slot of this.#slots.get(root)?.toReversed() ?? []) {
        const interval = this.intervalOf(slot);
        if (interval === laterInterval) this.delete(batch, { slot, blockRoot: root });
        laterInterval = interval;
      }
    }
  }

  #note({ slot, blockRoot }: StatePosition): void {
    const slots = [...this.#slotsOtherThan(slot, blockRoot), slot];
    this.#slots.set(
      blockRoot,
      slots.sort((a, b) => a - b),
    );
  }

  #slotsOtherThan(slot: Slot, blockRoot: RootHex): Slot[] {
    return (this.#slots.get(blockRoot) ?? []).filter((stored) => stored !== slot);
  }
}
