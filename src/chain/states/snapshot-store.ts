import type { BeaconConfig } from "@lodestar/config";
import {
  type BeaconStateAllForks,
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
} from "@lodestar/state-transition";
import type { RootHex, Slot } from "@lodestar/types";
import type { BeaconDb, BeaconDbBatch } from "../../db/beacon-db.ts";
import { compressPatch } from "../../db/repositories/snapshot-compression.ts";
import type { Packing, StoredSnapshot } from "../../db/repositories/snapshot-repository.ts";
import type { StatePosition } from "../../db/repositories/state-repositories.ts";
import { asDatabaseError } from "../pubkeys/pubkey-error.ts";
import type { Pubkeys } from "../pubkeys/pubkeys.ts";
import { withCaches } from "./cached-state.ts";
import type { OnRead } from "./read-state.ts";
import { type PatchBase, patchBaseOf, statePatch } from "./state-patch.ts";
import { readSnapshot } from "./stored-state.ts";

const DEFAULT_INTERVAL_EPOCHS = 32;

interface SnapshotStoreParts {
  config: BeaconConfig;
  db: BeaconDb;
  pubkeyCache: Pubkeys;
  /** Number of epochs between two permanently stored states on a chain. */
  intervalEpochs?: number;
}

/** Base for the patches currently being written. */
interface Base extends StatePosition {
  patchBase: PatchBase;
  /** Number of states stored since the base, including the base, and their total size. */
  states: number;
  bytes: number;
}

/** A state written to the database. It becomes visible with `put`. */
export interface PreparedSnapshot {
  readonly snapshot: StoredSnapshot;
  /** Number of bytes written. */
  readonly bytes: number;
  /** Set if the state is not a patch. */
  readonly patchBase?: PatchBase | undefined;
}

/** Stored snapshots, and the current base. */
export interface SnapshotIndex {
  snapshots: Map<RootHex, readonly StoredSnapshot[]>;
  base: Base | undefined;
}

/**
 * States in the database, from which all other states are replayed: post-states of blocks, possibly advanced to the
 * first slot of an epoch. Most of them are stored as patches to an earlier state, the base, which is kept as long as it
 * has patches. A new base is written once a patch exceeds the average size per state since the last base.
 */
export class SnapshotStore {
  readonly #config: BeaconConfig;
  readonly #db: BeaconDb;
  readonly #pubkeyCache: Pubkeys;
  readonly #intervalEpochs: number;
  /**
   * Snapshots by block root, in slot order. A block has several snapshots if the first slots of later epochs were
   * reached without another block.
   */
  #snapshots = new Map<RootHex, readonly StoredSnapshot[]>();
  #oldest: StatePosition | null = null;
  #base: Base | undefined;

  constructor({ config, db, pubkeyCache, intervalEpochs = DEFAULT_INTERVAL_EPOCHS }: SnapshotStoreParts) {
    this.#config = config;
    this.#db = db;
    this.#pubkeyCache = pubkeyCache;
    this.#intervalEpochs = intervalEpochs;
  }

  async open(): Promise<void> {
    for await (const snapshot of this.#db.snapshots.entries()) {
      const { slot, blockRoot, packing } = snapshot;
      if (!packing?.isOnlyBase) this.#oldest ??= { slot, blockRoot };
      this.#note(snapshot);
    }
    await this.#deleteForgottenParts();
  }

  /** The anchor, which is the oldest state. Never deleted. */
  get oldest(): StatePosition {
    if (!this.#oldest) throw new Error("The database contains no state.");
    return this.#oldest;
  }

  has(blockRoot: RootHex): boolean {
    return this.#snapshots.has(blockRoot);
  }

  capture(): SnapshotIndex {
    return { snapshots: new Map(this.#snapshots), base: this.#base };
  }

  /** Restores the index after the database has been reverted. */
  restore({ snapshots, base }: SnapshotIndex): void {
    this.#snapshots = snapshots;
    this.#base = base;
  }

  /** Returns the interval of a slot. One state per interval is kept permanently. */
  intervalOf(slot: Slot): number {
    return Math.floor(computeEpochAtSlot(slot) / this.#intervalEpochs);
  }

  /**
   * Loads the latest snapshot of a block that is not advanced past `latestSlot`. Throws a `DatabaseCorruptError` if the
   * stored bytes are not that state.
   */
  async load(blockRoot: RootHex, latestSlot?: Slot): Promise<CachedBeaconStateAllForks | null> {
    const state = await this.read(blockRoot, { latestSlot });
    return state && this.withCaches(state);
  }

  /** Like `load`, but without the epoch cache. */
  async read(
    blockRoot: RootHex,
    { latestSlot = Number.POSITIVE_INFINITY, onRead }: { latestSlot?: Slot; onRead?: OnRead } = {},
  ): Promise<BeaconStateAllForks | null> {
    const slot = this.#snapshots.get(blockRoot)?.findLast((stored) => stored.slot <= latestSlot)?.slot;
    if (slot === undefined) return null;
    return readSnapshot({ config: this.#config, db: this.#db }, { slot, blockRoot }, onRead);
  }

  /** Builds the caches of a stored state. */
  async withCaches(state: BeaconStateAllForks): Promise<CachedBeaconStateAllForks> {
    try {
      return await withCaches(state, { config: this.#config, pubkeyCache: this.#pubkeyCache });
    } catch (error) {
      throw asDatabaseError(error, this.#db);
    }
  }

  /**
   * Uses a loaded state as the base for later patches, unless the state is itself a patch or is about to be deleted. In
   * that case, a new base is written in the background, which is cheaper than reading the old one.
   */
  async resumeFrom(blockRoot: RootHex, state: CachedBeaconStateAllForks): Promise<void> {
    const position = { slot: state.slot, blockRoot };
    const packing = this.#find(position)?.packing;
    if (packing ? packing.base !== null : !isSame(position, this.oldest)) return;
    const patchBase = await patchBaseOf(state);
    const bytes = patchBase.fields.reduce((sum, { size }) => sum + size, 0);
    this.#base = { ...position, patchBase, states: 1, bytes };
  }

  /**
   * Writes the parts of a state in time slices, without the entry that makes it visible. No other snapshot may be
   * prepared, put or deleted until this one is put or discarded.
   */
  async prepare(blockRoot: RootHex, state: CachedBeaconStateAllForks): Promise<PreparedSnapshot> {
    const position = { slot: state.slot, blockRoot };
    const storedSnapshot = this.#find(position);
    if (storedSnapshot) return { snapshot: storedSnapshot, bytes: 0 };
    const base = this.#base?.patchBase.type === state.type ? this.#base : undefined;
    const { size, pieces } = statePatch(state, base?.patchBase);
    let parts = 0;
    let bytes = 0;
    for await (const part of compressPatch(pieces)) {
      const batch = this.#db.batch();
      batch.snapshots.putPart(state.slot, blockRoot, parts, part);
      await batch.write();
      parts++;
      bytes += part.length;
    }
    const packing = { size, parts, base: base ? positionOf(base) : null, isOnlyBase: false };
    return { snapshot: { ...position, packing }, bytes, patchBase: base ? undefined : await patchBaseOf(state) };
  }

  put(batch: BeaconDbBatch, { snapshot, bytes, patchBase }: PreparedSnapshot): void {
    const { slot, blockRoot, packing } = snapshot;
    if (packing) this.#putPacking(batch, { slot, blockRoot }, { ...packing, isOnlyBase: false });
    if (patchBase) this.#base = { slot, blockRoot, patchBase, states: 1, bytes };
    else this.#noteBytes(bytes);
  }

  /** Deletes the parts of a prepared state that is no longer needed. */
  discard(batch: BeaconDbBatch, { snapshot }: PreparedSnapshot): void {
    if (!this.#find(snapshot)) batch.snapshots.delete(snapshot);
  }

  /** Deletes a snapshot, unless it is the anchor or a base that has patches. */
  delete(batch: BeaconDbBatch, position: StatePosition): void {
    const snapshot = this.#find(position);
    if (!snapshot || (this.#oldest && isSame(position, this.#oldest))) return;
    const { slot, blockRoot, packing } = snapshot;
    if (this.#isNeeded(position)) {
      if (packing) this.#putPacking(batch, { slot, blockRoot }, { ...packing, isOnlyBase: true });
      return;
    }
    batch.snapshots.delete(snapshot);
    const remaining = this.#othersOf(position);
    if (remaining.length > 0) this.#snapshots.set(blockRoot, remaining);
    else this.#snapshots.delete(blockRoot);
    if (this.#base && isSame(this.#base, position)) this.#base = undefined;
    if (packing?.base && this.#find(packing.base)?.packing?.isOnlyBase) this.delete(batch, packing.base);
  }

  deleteAllOf(batch: BeaconDbBatch, blockRoot: RootHex): void {
    for (const snapshot of this.#snapshots.get(blockRoot) ?? []) this.delete(batch, snapshot);
  }

  /** Keeps only the anchor and the last snapshot of each interval along a chain. `chain` is ordered newest first. */
  thin(batch: BeaconDbBatch, chain: Iterable<{ root: RootHex }>): void {
    let laterInterval: number | undefined;
    for (const { root } of chain) {
      for (const { slot } of this.#snapshots.get(root)?.toReversed() ?? []) {
        const interval = this.intervalOf(slot);
        if (interval === laterInterval) this.delete(batch, { slot, blockRoot: root });
        laterInterval = interval;
      }
    }
  }

  #putPacking(batch: BeaconDbBatch, { slot, blockRoot }: StatePosition, packing: Packing): void {
    batch.snapshots.putPacking(slot, blockRoot, packing);
    this.#note({ slot, blockRoot, packing });
  }

  #noteBytes(added: number): void {
    if (!this.#base || added === 0) return;
    const states = this.#base.states + 1;
    const bytes = this.#base.bytes + added;
    this.#base = added > bytes / states ? undefined : { ...this.#base, states, bytes };
  }

  #note(snapshot: StoredSnapshot): void {
    const snapshots = [...this.#othersOf(snapshot), snapshot];
    this.#snapshots.set(
      snapshot.blockRoot,
      snapshots.sort((a, b) => a.slot - b.slot),
    );
  }

  #find(position: StatePosition): StoredSnapshot | undefined {
    return this.#snapshots.get(position.blockRoot)?.find(({ slot }) => slot === position.slot);
  }

  #othersOf(position: StatePosition): StoredSnapshot[] {
    return (this.#snapshots.get(position.blockRoot) ?? []).filter(({ slot }) => slot !== position.slot);
  }

  /** True if another snapshot is a patch to this one. */
  #isNeeded(position: StatePosition): boolean {
    for (const snapshots of this.#snapshots.values()) {
      if (snapshots.some(({ packing }) => packing?.base && isSame(packing.base, position))) return true;
    }
    return false;
  }

  /** Deletes parts that an incomplete write left behind in a crash. */
  async #deleteForgottenParts(): Promise<void> {
    const batch = this.#db.batch();
    let isAny = false;
    for await (const { slot, blockRoot, part } of this.#db.snapshots.partKeys()) {
      if (part < (this.#find({ slot, blockRoot })?.packing?.parts ?? 0)) continue;
      batch.snapshots.deletePart(slot, blockRoot, part);
      isAny = true;
    }
    if (isAny) await batch.write();
  }
}

const positionOf = ({ slot, blockRoot }: StatePosition): StatePosition => ({ slot, blockRoot });

const isSame = (a: StatePosition, b: StatePosition) => a.slot === b.slot && a.blockRoot === b.blockRoot;
