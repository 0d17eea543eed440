import type { Slot } from "@lodestar/types";
import type { Logger } from "../../log/logger.ts";

export const PROPOSE = "block proposal";

/** Logs failed duties. If a duty fails in consecutive slots, only the first failure and the recovery are logged. */
export class DutyFailures {
  readonly #logger: Logger;
  readonly #lastFailed = new Map<string, Slot>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Runs work. If the work fails, logs the error and returns undefined. */
  async attempt<T>(duty: string, slot: Slot, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.record(duty, slot, error);
      return undefined;
    }
  }

  record(duty: string, slot: Slot, error: unknown): void {
    const level = this.#lastFailed.has(duty) ? "debug" : "warn";
    this.#lastFailed.set(duty, slot);
    this.#logger[level]("Validator duty failed", { duty, slot, error });
  }

  clear(): void {
    this.#lastFailed.clear();
  }

  /** Marks the slot as inconclusive, so an earlier failure of the duty does not count as recovered. */
  markInconclusive(duty: string, slot: Slot): void {
    if (this.#lastFailed.has(duty)) this.#lastFailed.set(duty, slot);
  }

  /** Logs the recovery of duties that did not fail in the slot. */
  endSlot(slot: Slot): void {
    for (const [duty, failedAt] of this.#lastFailed) {
      if (failedAt >= slot) continue;
      this.#lastFailed.delete(duty);
      this.#logger.info("Validator duty recovered", { duty, slot, lastFailedSlot: failedAt });
    }
  }
}
