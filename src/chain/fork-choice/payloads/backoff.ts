import type { RootHex, Slot } from "@lodestar/types";
import { LruMap } from "../../../collections/lru-map.ts";

/** Rarely reached: for example, producing invalid payloads is expensive for proposers. */
const MAX_ENTRIES = 1024;
/** Maximum delay, so that a repaired execution client is noticed soon. */
const MAX_DELAY_SLOTS = 32;

export interface BackoffEntry {
  since: Slot;
  slots: number;
}

/** Exponential backoff in slots, keyed by block root or hash. */
export class Backoff {
  readonly #entries = new LruMap<RootHex, BackoffEntry>(MAX_ENTRIES);

  has(root: RootHex): boolean {
    return this.#entries.get(root) !== undefined;
  }

  /** Schedules the next attempt and doubles the delay. */
  schedule(root: RootHex, slot: Slot): void {
    const previousSlots = this.#entries.get(root)?.slots ?? 0;
    this.#entries.set(root, { since: slot, slots: Math.min(Math.max(1, 2 * previousSlots), MAX_DELAY_SLOTS) });
  }

  /** True unless a delay is pending. */
  isDue(root: RootHex, slot: Slot): boolean {
    const entry = this.#entries.get(root);
    // The clock may have been set back.
    return entry === undefined || slot < entry.since || slot >= entry.since + entry.slots;
  }

  /** Ends all pending delays. New delays start short again. */
  reset(): void {
    for (const [root, { since }] of [...this.#entries.entries()]) this.#entries.set(root, { since, slots: 0 });
  }

  delete(root: RootHex): void {
    this.#entries.delete(root);
  }

  capture(): [RootHex, BackoffEntry][] {
    return [...this.#entries.entries()];
  }

  restore(entries: readonly [RootHex, BackoffEntry][]): void {
    this.#entries.clear();
    for (const [root, entry] of entries) this.#entries.set(root, entry);
  }
}
