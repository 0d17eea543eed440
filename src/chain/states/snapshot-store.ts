import type { BeaconConfig } from "@lodestar/config";
import { type CachedBeaconStateAllForks, createCachedBeaconState, type PubkeyCache } from "@lodestar/state-transition";
import type { RootHex, Slot } from "@lodestar/types";
import type { BeaconDb, BeaconDbBatch } from "../../db/beacon-db.ts";

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

  constructor({ config, db, pubkeyCache }: { config: BeaconConfig; db: BeaconDb; pubkeyCache: PubkeyCache }) {
    this.#config = config;
    this.#db = db;
    this.#pubkeyCache = pubkeyCache;
  }

  async open(): Promise<void> {
    for await (const { slot, blockRoot } of this.#db.snapshots.keys()) this.#slots.set(blockRoot, slot);
  }

  /** Where the node's history of states begins. */
  get oldestSlot(): Slot {
    return Math.min(...this.#slots.values());
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
