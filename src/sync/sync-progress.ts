import type { Slot } from "@lodestar/types";
import type { Timers } from "../async/timers.ts";
import type { Logger } from "../log/logger.ts";
import { Progress, rounded } from "../log/progress.ts";
import type { SyncChain } from "./sync-chain.ts";

interface SyncProgressParts {
  chain: Pick<SyncChain, "head">;
  timers: Pick<Timers, "now">;
  logger: Logger;
}

interface Start {
  at: number;
  slot: Slot;
}

/** Tells in the log how syncing goes. */
export class SyncProgress {
  readonly #chain: Pick<SyncChain, "head">;
  readonly #timers: Pick<Timers, "now">;
  readonly #progress: Progress;
  #began: Start = { at: 0, slot: 0 };
  /** Where the sync began, of which the current stretch may be the last of several. */
  #syncBegan: Start = { at: 0, slot: 0 };

  constructor({ chain, timers, logger }: SyncProgressParts) {
    this.#chain = chain;
    this.#timers = timers;
    this.#progress = new Progress({ message: "Syncing", logger, timers, firstAfterMs: 0 });
  }

  /** Begins a stretch; one that goes on with the sync of the last one leaves the start of the summary as it is. */
  begin({ goesOn = false } = {}): void {
    this.#began = { at: this.#timers.now(), slot: this.#chain.head.slot };
    if (!goesOn || this.#began.slot < this.#syncBegan.slot) this.#syncBegan = this.#began;
    this.#progress.begin();
  }

  /** Of all that came since the sync began. */
  summary(): { slots: number; seconds: number; slotsPerSecond: number | undefined } {
    const slots = Math.max(0, this.#chain.head.slot - this.#syncBegan.slot);
    const seconds = (this.#timers.now() - this.#syncBegan.at) / 1000;
    return { slots, seconds: rounded(seconds), slotsPerSecond: seconds > 0 ? rounded(slots / seconds) : undefined };
  }

  report(target: Slot, peers: number): void {
    const { slot } = this.#chain.head;
    // The head has moved to a branch whose newest block is older.
    if (slot < this.#began.slot) this.begin({ goesOn: true });
    const from = this.#began.slot;
    this.#progress.report(slot - from, target - from, (slotsPerSecond) => ({ slot, target, peers, slotsPerSecond }));
  }
}
