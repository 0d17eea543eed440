import type { BeaconConfig } from "@lodestar/config";
import { type CachedBeaconStateAllForks, createCachedBeaconState, type PubkeyCache } from "@lodestar/state-transition";
import type { RootHex, Slot } from "@lodestar/types";
import type { BeaconDb, BeaconDbBatch } from "../../db/beacon-db.ts";
import type { StatePosition } from "../../db/state-repositories.ts";

/**
 * Whole states in the database, from which all others can be rebuilt: state of the chain that ends in a block,
 * advanced to an epoch's first slot.
 */
export class SnapshotStore {
  readonly #config: BeaconConfig;
  readonly #db: BeaconDb;
  readonly #pubkeyCache: PubkeyCache;
  /** Which snapshots exist: block root to slot. Few enough to be held, and asked for at every step of a replay. */
  readonly #slots = new Map<RootHex, Slot>();
  #oldest: StatePosition | null = null;

  constructor({ config, db, pubkeyCache }: { config: BeaconConfig; db: BeaconDb; pubkeyCache: PubkeyCache }) {
    this.#config = config;
    this.#db = db;
    this.#pubkeyCache = pubkeyCache;
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
}
