import type { Slot } from "@lodestar/types";
import type { Logger } from "../log/logger.ts";
import { Progress, rounded } from "../log/progress.ts";
import type { Timers } from "../timers.ts";
import type { SyncChain } from "./sync-chain.ts";

interface SyncProgressParts {
  chain: Pick<SyncChain, "head">;
  timers: Pick<Timers, "now">;
  logger: Logger;
}

/** Tells in the log how syncing goes. */
export class SyncProgress {
  readonly #chain: Pick<SyncChain, "head">;
  readonly #timers: Pick<Timers, "now">;
  readonly #progress: Progress;
  #began: { at: number; slot: Slot } = { at: 0, slot: 0 };

  constructor({ chain, timers, logger }: SyncProgressParts) {
    this.#chain = chain;
    this.#timers = timers;
    this.#progress = new Progress({ message: "Syncing", logger, timers, firstAfterMs: 0 });
  }

  begin(): void {
    this.#began = { at: this.#timers.now(), slot: this.#chain.head.slot };
    this.#progress.begin();
  }

  /** Of all that came since the beginning. */
  summary(): { slots: number; seconds: number; slotsPerSecond: number | undefined } {
    const slots = Math.max(0, this.#chain.head.slot - this.#began.slot);
    const seconds = (this.#timers.now() - this.#began.at) / 1000;
    return { slots, seconds: rounded(seconds), slotsPerSecond: seconds > 0 ? rounded(slots / seconds) : undefined };
  }

  report(target: Slot, peers: number): void {
    const { slot } = this.#chain.head;
    // The head has moved to a branch whose newest block is older.
    if (slot < this.#began.slot) this.begin();
    const from = this.#began.slot;
    this.#progress.report(slot - from, target - from, (slotsPerSecond) => ({ slot, target, peers, slotsPerSecond }));
  }
}
