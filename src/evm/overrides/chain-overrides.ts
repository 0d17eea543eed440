import type { RootHex } from "@lodestar/types";
import type { ExecutedBlock } from "../execution/block.ts";
import { toHex } from "../execution/payload.ts";
import { type Change, decodeOverrides, encodeOverrides, type Override } from "./override.ts";
import {
  type ImpersonationSettings,
  parse,
  type StoredPending,
  type StoredRecord,
  serialize,
} from "./stored-overrides.ts";

/** Persists pending overrides, and recorded overrides by block hash. */
export interface OverrideStore {
  readOverrides(key: RootHex | "pending"): Promise<Uint8Array | null>;
  writeOverrides(key: RootHex | "pending", bytes: Uint8Array): Promise<void>;
  /** Returns the overrides recorded for blocks that are not archived, with the block hashes. */
  unarchivedOverrides(): Promise<[blockHash: RootHex, bytes: Uint8Array][]>;
  deleteOverrides(blockHashes: readonly RootHex[]): Promise<void>;
}

interface Branches {
  lost: readonly ExecutedBlock[];
  gained: readonly ExecutedBlock[];
}

const NO_SETTINGS: ImpersonationSettings = { impersonated: [], impersonatesAll: false };

/**
 * Overrides of a chain. An override is pending until the next block records it. If that block is reorged out, its
 * overrides become pending again, just as its transactions return to the pool.
 */
export class ChainOverrides {
  /** Pending overrides by replaced field, in order of application. */
  #pending = new Map<string, Override>();
  #settings = NO_SETTINGS;
  /** Numbers of unfinalized blocks with overrides, by hash. */
  #unsettled = new Map<RootHex, number>();
  #nextId = 0;
  /** True while another chain is loaded. */
  #isDetached = false;
  #store: OverrideStore | undefined;
  #saving: Promise<void> = Promise.resolve();
  /** A queued write that has not started yet. */
  #nextSave: Promise<void> | undefined;

  /** Connects to the database. Until then, nothing is stored. */
  connect(store: OverrideStore): void {
    this.#store = store;
  }

  /** Returns the overrides that the next block on the head will apply. */
  get pending(): readonly Override[] {
    return [...this.#pending.values()];
  }

  setImpersonatesAll(impersonatesAll: boolean): void {
    this.#settings = { ...this.#settings, impersonatesAll };
  }

  isImpersonated(address: Uint8Array): boolean {
    return this.#settings.impersonatesAll || this.#settings.impersonated.includes(toHex(address));
  }

  setImpersonated(address: Uint8Array, isImpersonated: boolean): void {
    const others = this.#settings.impersonated.filter((other) => other !== toHex(address));
    this.#settings = { ...this.#settings, impersonated: isImpersonated ? [...others, toHex(address)] : others };
  }

  add(change: Change): void {
    this.#put({ ...change, id: this.#nextId++ });
  }

  /** Returns the overrides that would be pending if another block were the head. */
  pendingOn({ lost, gained }: Branches): readonly Override[] {
    const included = new Set(gained.flatMap(({ overrides = [] }) => overrides.map(({ id }) => id)));
    const returned = lost.flatMap(({ overrides = [] }) => overrides);
    return [...returned, ...this.#pending.values()].filter(({ id }) => !included.has(id));
  }

  /** Updates the overrides for a new head. Returns true if the pending overrides changed. */
  follow(branches: Branches): boolean {
    if (![...branches.lost, ...branches.gained].some(({ overrides = [] }) => overrides.length > 0)) return false;
    const pending = this.pendingOn(branches);
    this.#pending.clear();
    for (const override of pending) this.#put(override);
    return true;
  }

  /** Returns the overrides recorded for a block. */
  async ofBlock(hash: Uint8Array): Promise<readonly Override[] | undefined> {
    const bytes = (await this.#store?.readOverrides(toHex(hash))) ?? null;
    return bytes === null ? undefined : decodeOverrides(parse<StoredRecord>(bytes).overrides);
  }

  /** Stores the overrides of a block. */
  async record({ hash, header, overrides }: Pick<ExecutedBlock, "hash" | "header" | "overrides">): Promise<void> {
    if (overrides === undefined) return;
    const blockNumber = Number(header.number);
    const stored: StoredRecord = { blockNumber, overrides: encodeOverrides(overrides) };
    this.#unsettled.set(toHex(hash), blockNumber);
    await this.#store?.writeOverrides(toHex(hash), serialize(stored));
  }

  /** Deletes the overrides of blocks that are not finalized, up to the finalized number. */
  async settle(finalNumber: bigint, isFinal: (blockHash: RootHex) => Promise<boolean>): Promise<void> {
    const settled = [...this.#unsettled].filter(([, number]) => number <= finalNumber).map(([hash]) => hash);
    const unused: RootHex[] = [];
    for (const hash of settled) if (!(await isFinal(hash))) unused.push(hash);
    if (unused.length > 0) await this.#store?.deleteOverrides(unused);
    for (const hash of settled) this.#unsettled.delete(hash);
  }

  /** Drops all overrides and stops storing until `load`. */
  detach(): void {
    this.#isDetached = true;
    this.#pending = new Map();
    this.#unsettled = new Map();
  }

  /** Stores the pending overrides and the settings. */
  save(): Promise<void> {
    if (this.#isDetached) return Promise.resolve();
    this.#nextSave ??= this.#saving.then(async () => {
      this.#nextSave = undefined;
      const overrides = encodeOverrides(this.pending);
      const stored: StoredPending = { ...this.#settings, nextId: this.#nextId, overrides };
      await this.#store?.writeOverrides("pending", serialize(stored));
    });
    this.#saving = this.#nextSave.catch(() => {});
    return this.#nextSave;
  }

  /** Loads stored overrides, except those recorded on the given branch. */
  async load(branch: readonly ExecutedBlock[]): Promise<void> {
    const bytes = (await this.#store?.readOverrides("pending")) ?? null;
    this.#isDetached = false;
    const stored = bytes === null ? { ...NO_SETTINGS, nextId: 0, overrides: [] } : parse<StoredPending>(bytes);
    const { nextId, overrides, ...settings } = stored;
    this.#settings = settings;
    this.#nextId = Math.max(this.#nextId, nextId);
    this.#pending = new Map();
    for (const override of decodeOverrides(overrides)) this.#put(override);
    this.follow({ lost: [], gained: branch });
    const unarchived = (await this.#store?.unarchivedOverrides()) ?? [];
    this.#unsettled = new Map(unarchived.map(([hash, record]) => [hash, parse<StoredRecord>(record).blockNumber]));
  }

  /** Returns a function that restores the current state. */
  capture(): () => void {
    const [pending, settings, unsettled] = [new Map(this.#pending), this.#settings, new Map(this.#unsettled)];
    return () => {
      this.#unsettled = new Map(unsettled);
      this.#pending = new Map(pending);
      this.#settings = settings;
    };
  }

  #put(override: Override): void {
    const key = targetOf(override);
    // Move the override to the end, because overrides are applied in order.
    this.#pending.delete(key);
    this.#pending.set(key, override);
  }
}

/** Returns a key for the field replaced by an override. */
function targetOf({ id, ...change }: Override): string {
  if (!("address" in change)) return Object.keys(change).join();
  const { address, storage, ...field } = change;
  return `${toHex(address)}/${storage ? toHex(storage[0]) : Object.keys(field).join()}`;
}
