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

/** Logs the progress of the sync. */
export class SyncProgress {
  readonly #chain: Pick<SyncChain, "head">;
  readonly #timers: Pick<Timers, "now">;
  readonly #progress: Progress;
  #runStart: Start = { at: 0, slot: 0 };
  /** Start of the sync, which may consist of several runs. */
  #syncStart: Start = { at: 0, slot: 0 };

  constructor({ chain, timers, logger }: SyncProgressParts) {
    this.#chain = chain;
    this.#timers = timers;
    this.#progress = new Progress({ message: "Syncing", logger, timers, firstReportMs: 0 });
  }

  /** Starts a run. If `continues` is set, the summary still counts from the start of the sync. */
  begin({ continues = false } = {}): void {
    this.#runStart = { at: this.#timers.now(), slot: this.#chain.head.slot };
    if (!continues || this.#runStart.slot < this.#syncStart.slot) this.#syncStart = this.#runStart;
    this.#progress.restart();
  }

  /** Returns a summary since the start of the sync. */
  summary(): { slots: number; seconds: number; slotsPerSecond: number | undefined } {
    const slots = Math.max(0, this.#chain.head.slot - this.#syncStart.slot);
    const seconds = (this.#timers.now() - this.#syncStart.at) / 1000;
    return { slots, seconds: rounded(seconds), slotsPerSecond: seconds > 0 ? rounded(slots / seconds) : undefined };
  }

  report(target: Slot, peers: number): void {
    const { slot } = this.#chain.head;
    // The head has moved to a branch with an older tip.
    if (slot < this.#runStart.slot) this.begin({ continues: true });
    const from = this.#runStart.slot;
    this.#progress.report(slot - from, target - from, (slotsPerSecond) => ({ slot, target, peers, slotsPerSecond }));
  }
}
