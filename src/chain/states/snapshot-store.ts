import type { BeaconConfig } from "@lodestar/config";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  createCachedBeaconState,
  type PubkeyCache,
} from "@lodestar/state-transition";
import type { RootHex, Slot } from "@lodestar/types";
import type { BeaconDb, BeaconDbBatch } from "../../db/beacon-db.ts";
import type { StatePosition } from "../../db/state-repositories.ts";

const DEFAULT_INTERVAL_EPOCHS = 32;

interface SnapshotStoreParts {
  config: BeaconConfig;
  db: BeaconDb;
  pubkeyCache: PubkeyCache;
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
  readonly #pubkeyCache: PubkeyCache;
  readonly #intervalEpochs: number;
  /** Which snapshots exist: block root to slot. Few enough to be held, and asked for at every step of a replay. */
  readonly #slots = new Map<RootHex, Slot>();
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
      this.#slots.set(position.blockRoot, position.slot);
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

  /** Which of the spans of time a slot belongs to, of each of which one state is kept for good. */
  intervalOf(slot: Slot): number {
    return Math.floor(computeEpochAtSlot(slot) / this.#intervalEpochs);
  }

  /** The snapshot after that block, unless it was advanced past the latest slot that is of use. */
  async load(blockRoot: RootHex, latestSlot = Number.POSITIVE_INFINITY): Promise<CachedBeaconStateAllForks | null> {
    const slot = this.#slots.get(blockRoot);
    if (slot === undefined || slot > latestSlot) return null;
    const bytes = await this.#db.snapshots.get(slot, blockRoot);
    if (!bytes) return null;
    const view = this.#config.getForkTypes(slot).BeaconState.deserializeToViewDU(bytes);
    return createCachedBeaconState(view, { config: this.#config, pubkeyCache: this.#pubkeyCache });
  }

  put(batch: BeaconDbBatch, blockRoot: RootHex, state: CachedBeaconStateAllForks): void {
    this.delete(batch, blockRoot);
    batch.snapshots.put(state.slot, blockRoot, state.serialize());
    this.#slots.set(blockRoot, state.slot);
  }

  delete(batch: BeaconDbBatch, blockRoot: RootHex): void {
    const slot = this.#slots.get(blockRoot);
    if (slot === undefined) return;
    batch.snapshots.delete(slot, blockRoot);
    this.#slots.delete(blockRoot);
  }

  /**
   * Of the snapshots along a chain, whose blocks come newest first, only the last of each interval stays, and the oldest of
   * all, from which all history is rebuilt.
   */
  thin(batch: BeaconDbBatch, chain: Iterable<{ root: RootHex }>): void {
    let laterInterval: number | undefined;
    for (const { root } of chain) {
      const slot = this.#slots.get(root);
      if (slot === undefined) continue;
      const interval = this.intervalOf(slot);
      if (interval === laterInterval && root !== this.oldest.blockRoot) this.delete(batch, root);
      laterInterval = interval;
    }
  }
}
