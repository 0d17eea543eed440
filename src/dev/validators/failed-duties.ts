import type { Slot } from "@lodestar/types";
import type { Logger } from "../../log/logger.ts";

export const PROPOSE = "propose a block";

/** Tells of duties that could not be done; of one that fails slot after slot, when that begins and when it ends. */
export class FailedDuties {
  readonly #logger: Logger;
  readonly #lastFailed = new Map<string, Slot>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Undefined when the duty could not be done. */
  async attempt<T>(duty: string, slot: Slot, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.failed(duty, slot, error);
      return undefined;
    }
  }

  /** A duty is a phrase such as "propose a block". */
  failed(duty: string, slot: Slot, error: unknown): void {
    const level = this.#lastFailed.has(duty) ? "debug" : "warn";
    this.#lastFailed.set(duty, slot);
    this.#logger[level](`Validators could not ${duty}`, { slot, error });
  }

  /** The slot does not show whether the duty can be done: one that failed before is not over. */
  unsettled(duty: string, slot: Slot): void {
    if (this.#lastFailed.has(duty)) this.#lastFailed.set(duty, slot);
  }

  /** All duties of the slot have been attended to. */
  endSlot(slot: Slot): void {
    for (const [duty, failedAt] of this.#lastFailed) {
      if (failedAt >= slot) continue;
      this.#lastFailed.delete(duty);
      this.#logger.info(`Validators no longer fail to ${duty}`, { slot, failedUntil: failedAt });
    }
  }
}
