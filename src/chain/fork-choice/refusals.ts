import type { RootHex, Slot } from "@lodestar/types";
import { LruMap } from "../lru-map.ts";

/** Blocks with invalid payloads cost their proposers dearly, so that there are never many. */
const REFUSED_HELD = 1024;
/** A client that was wrong is not waited for much longer after it was mended, and one that is right is hardly bothered. */
const MAX_PAUSE_SLOTS = 32;

export interface Refusal {
  since: Slot;
  pauseSlots: number;
}

/**
 * Blocks whose payloads the execution engine has refused, and when it may be asked about each again: it may have been wrong. The pause
 * becomes twice as long with each refusal.
 */
export class Refusals {
  readonly #refusals = new LruMap<RootHex, Refusal>(REFUSED_HELD);

  has(root: RootHex): boolean {
    return this.#refusals.get(root) !== undefined;
  }

  note(root: RootHex, slot: Slot): void {
    const before = this.#refusals.get(root)?.pauseSlots ?? 0;
    this.#refusals.set(root, { since: slot, pauseSlots: Math.min(Math.max(1, 2 * before), MAX_PAUSE_SLOTS) });
  }

  /** True of a block that was not refused itself, too: nobody has asked about it. */
  isDue(root: RootHex, slot: Slot): boolean {
    const refusal = this.#refusals.get(root);
    if (refusal === undefined) return true;
    const { since, pauseSlots } = refusal;
    // The clock may have been set back.
    return slot < since || slot >= since + pauseSlots;
  }

  /** The engine may be another one, or mended: all may be asked about at once. */
  endPauses(): void {
    for (const [root, { since }] of [...this.#refusals.entries()]) {
      this.#refusals.set(root, { since, pauseSlots: 0 });
    }
  }

  delete(root: RootHex): void {
    this.#refusals.delete(root);
  }

  capture(): [RootHex, Refusal][] {
    return [...this.#refusals.entries()];
  }

  restore(refusals: readonly [RootHex, Refusal][]): void {
    this.#refusals.clear();
    for (const [root, refusal] of refusals) this.#refusals.set(root, refusal);
  }
}
