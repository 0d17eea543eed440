import type { BeaconConfig } from "@lodestar/config";
import {
  type BeaconStateAllForks,
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
} from "@lodestar/state-transition";
import type { RootHex, Slot } from "@lodestar/types";
import type { BeaconDb, BeaconDbBatch } from "../../db/beacon-db.ts";
import { packed } from "../../db/snapshot-packing.ts";
import type { Packing, StoredSnapshot } from "../../db/snapshot-repository.ts";
import type { StatePosition } from "../../db/state-repositories.ts";
import { blamedOnDatabase } from "../bad-pubkey.ts";
import type { Pubkeys } from "../pubkeys.ts";
import { withCaches } from "./cached-state.ts";
import type { OnRead } from "./read-state.ts";
import { type PatchBase, patchBaseOf, statePatch } from "./state-patch.ts";
import { readSnapshot } from "./stored-state.ts";

const DEFAULT_INTERVAL_EPOCHS = 32;

interface SnapshotStoreParts {
  config: BeaconConfig;
  db: BeaconDb;
  pubkeyCache: Pubkeys;
  /** How many epochs lie between two states of a chain that are kept for good. */
  intervalEpochs?: number;
}

/** The state that later ones are stored as patches of. */
interface Base extends StatePosition {
  patchBase: PatchBase;
  /** How many states were stored since, itself among them, and how many bytes all of them take. */
  states: number;
  bytes: number;
}

/** A state all of whose bytes are in the database already, where nobody finds them before it is put there. */
export interface PreparedSnapshot {
  readonly snapshot: StoredSnapshot;
  /** How many bytes were written. */
  readonly bytes: number;
  /** Of a state that is not a patch of another one. */
  readonly patchBase?: PatchBase | undefined;
}

/** Which states the database holds, and the one that the next is to be a patch of. */
export interface SnapshotsMoment {
  snapshots: Map<RootHex, readonly StoredSnapshot[]>;
  base: Base | undefined;
}

/**
 * States in the database, from which all others can be rebuilt: state of the chain that ends in a block, right after the block or
 * advanced to an epoch's first slot. Most are stored as patches of an earlier one, the base, which stays as long as one of them
 * does. There is a new base as soon as a patch is longer than a state has taken on the average since the last one; from then on
 * each further patch would make that average worse.
 */
export class SnapshotStore {
  readonly #config: BeaconConfig;
  readonly #db: BeaconDb;
  readonly #pubkeyCache: Pubkeys;
  readonly #intervalEpochs: number;
  /**
   * Which snapshots exist, by block root, in the order of slots. Few enough to be held, and asked for at every step of a
   * replay. A block has several when no other block came before the first slots of several epochs.
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

  /** The anchor, which is never deleted: the node's history of states begins with it. */
  get oldest(): StatePosition {
    if (!this.#oldest) throw new Error("The database holds no state, so it holds no chain either.");
    return this.#oldest;
  }

  has(blockRoot: RootHex): boolean {
    return this.#snapshots.has(blockRoot);
  }

  capture(): SnapshotsMoment {
    return { snapshots: new Map(this.#snapshots), base: this.#base };
  }

  /** Takes over which snapshots the database holds. */
  restore({ snapshots, base }: SnapshotsMoment): void {
    this.#snapshots = snapshots;
    this.#base = base;
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
    return state && this.withCaches(state);
  }

  /** The same state without what is computed of it. */
  async read(
    blockRoot: RootHex,
    { latestSlot = Number.POSITIVE_INFINITY, onRead }: { latestSlot?: Slot; onRead?: OnRead } = {},
  ): Promise<BeaconStateAllForks | null> {
    const slot = this.#snapshots.get(blockRoot)?.findLast((stored) => stored.slot <= latestSlot)?.slot;
    if (slot === undefined) return null;
    return readSnapshot({ config: this.#config, db: this.#db }, { slot, blockRoot }, onRead);
  }

  /** A stored state, ready for use. */
  async withCaches(state: BeaconStateAllForks): Promise<CachedBeaconStateAllForks> {
    try {
      return await withCaches(state, { config: this.#config, pubkeyCache: this.#pubkeyCache });
    } catch (error) {
      throw blamedOnDatabase(error, this.#db);
    }
  }

  /**
   * Takes a state that was just loaded for the base of those to come, if it can be one: it is no patch itself, and stays where it
   * is. Another base is not read for it, which would hold up everything else for seconds when there are many validators, while a
   * new one is written behind everybody's back.
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
   * Writes all of a state but the entry by which it is found, a slice at a time. Until it is put or discarded no other one may be
   * prepared, put or deleted: it may be a patch of what would be deleted.
   */
  async prepare(blockRoot: RootHex, state: CachedBeaconStateAllForks): Promise<PreparedSnapshot> {
    const position = { slot: state.slot, blockRoot };
    const stored = this.#find(position);
    if (stored) return { snapshot: stored, bytes: 0 };
    const base = this.#base?.patchBase.type === state.type ? this.#base : undefined;
    const { size, pieces } = statePatch(state, base?.patchBase);
    let parts = 0;
    let bytes = 0;
    for await (const part of packed(pieces)) {
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

  /** For a state that is not wanted any more. */
  discard(batch: BeaconDbBatch, { snapshot }: PreparedSnapshot): void {
    if (!this.#find(snapshot)) batch.snapshots.delete(snapshot);
  }

  /** Deletes the snapshot of a position, if there is one. The anchor stays, and so does a base as long as it is needed. */
  delete(batch: BeaconDbBatch, position: StatePosition): void {
    const snapshot = this.#find(position);
    if (!snapshot || (this.#oldest && isSame(position, this.#oldest))) return;
    const { slot, blockRoot, packing } = snapshot;
    if (this.#isNeeded(position)) {
      if (packing) this.#putPacking(batch, { slot, blockRoot }, { ...packing, isOnlyBase: true });
      return;
    }
    batch.snapshots.delete(snapshot);
    const others = this.#othersOf(position);
    if (others.length > 0) this.#snapshots.set(blockRoot, others);
    else this.#snapshots.delete(blockRoot);
    if (this.#base && isSame(this.#base, position)) this.#base = undefined;
    if (packing?.base && this.#find(packing.base)?.packing?.isOnlyBase) this.delete(batch, packing.base);
  }

  deleteAllOf(batch: BeaconDbBatch, blockRoot: RootHex): void {
    for (const snapshot of this.#snapshots.get(blockRoot) ?? []) this.delete(batch, snapshot);
  }

  /**
   * Of the snapshots along a chain, whose blocks come newest first, only the last of each interval stays, and the
   * anchor.
   */
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

  /** Whether there is a patch of it. */
  #isNeeded(position: StatePosition): boolean {
    for (const snapshots of this.#snapshots.values()) {
      if (snapshots.some(({ packing }) => packing?.base && isSame(packing.base, position))) return true;
    }
    return false;
  }

  /** What a crash has left of a state that was not wholly written. */
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
