import type { RootHex, Slot } from "@lodestar/types";
import { LruMap } from "./lru-map.ts";

/** What is held back this way is rare: blocks with invalid payloads, for example, cost their proposers dearly. */
const HELD = 1024;
/** An execution client that was mended is not kept waiting much longer, and one that is right, or stays wrong, is hardly bothered. */
const MAX_PAUSE_SLOTS = 32;

export interface Pause {
  since: Slot;
  slots: number;
}

/** What the execution engine is not to be asked or given again and again: each time the pause after it becomes twice as long. */
export class GrowingPauses {
  readonly #pauses = new LruMap<RootHex, Pause>(HELD);

  has(root: RootHex): boolean {
    return this.#pauses.get(root) !== undefined;
  }

  /** Begins the next pause, which is longer than the last. */
  begin(root: RootHex, slot: Slot): void {
    const before = this.#pauses.get(root)?.slots ?? 0;
    this.#pauses.set(root, { since: slot, slots: Math.min(Math.max(1, 2 * before), MAX_PAUSE_SLOTS) });
  }

  /** True also where there was no pause yet. */
  isOver(root: RootHex, slot: Slot): boolean {
    const pause = this.#pauses.get(root);
    // The clock may have been set back.
    return pause === undefined || slot < pause.since || slot >= pause.since + pause.slots;
  }

  /** Ends all pauses, and those to come begin short again: the engine may be another one, or mended. */
  end(): void {
    for (const [root, { since }] of [...this.#pauses.entries()]) this.#pauses.set(root, { since, slots: 0 });
  }

  delete(root: RootHex): void {
    this.#pauses.delete(root);
  }

  capture(): [RootHex, Pause][] {
    return [...this.#pauses.entries()];
  }

  restore(pauses: readonly [RootHex, Pause][]): void {
    this.#pauses.clear();
    for (const [root, pause] of pauses) this.#pauses.set(root, pause);
  }
}
