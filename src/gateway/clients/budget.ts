import type { Timers } from "../../async/timers.ts";
import type { UpstreamSettings } from "../settings.ts";
import type { BudgetStore } from "./budget-store.ts";

export interface BudgetOptions {
  /** Name of the counter in the store. */
  readonly name: string;
  /** Amount per window. */
  readonly limit: number;
  /** Length of a window, which starts at a multiple of it since 1970 (UTC). */
  readonly windowSeconds: number;
  readonly store: BudgetStore;
  readonly timers: Pick<Timers, "unixNow">;
}

const SECONDS_PER_DAY = 86_400;

/** Creates the budgets of an upstream. */
export function upstreamBudgets(
  { name, budget = {} }: Pick<UpstreamSettings, "name" | "budget">,
  deps: Pick<BudgetOptions, "store" | "timers">,
): Budget[] {
  const create = (limit: number | undefined, windowSeconds: number) =>
    limit === undefined ? [] : new Budget({ ...deps, name: `upstream:${name}`, limit, windowSeconds });
  return [create(budget.requestsPerSecond, 1), create(budget.requestsPerDay, SECONDS_PER_DAY)].flat();
}

/** Share of the limit that a process reserves at once. An unused remainder expires with the window. */
const CHUNK_SHARE = 1 / 200;

/**
 * Budget per window that several processes share. Each reserves a chunk of it in the store and spends that locally, so
 * that the limit is never exceeded and few calls wait for the store.
 */
export class Budget {
  readonly limit: number;
  readonly #options: BudgetOptions;
  readonly #chunk: number;
  #window = -1;
  /** Reserved and unspent amount. Negative if spent in advance. */
  #remaining = 0;
  /** True if the store has nothing left in this window. */
  #isStoreEmpty = false;
  /** Amount that callers wait for. */
  #awaited = 0;
  #reservation: Promise<void> | undefined;

  constructor(options: BudgetOptions) {
    this.#options = options;
    this.limit = options.limit;
    this.#chunk = Math.max(1, Math.floor(options.limit * CHUNK_SHARE));
  }

  /** Seconds until the next window. */
  get secondsToNextWindow(): number {
    const { timers, windowSeconds } = this.#options;
    return Math.ceil(windowSeconds - ((timers.unixNow() / 1000) % windowSeconds));
  }

  /** Takes an amount from the reserved chunk. Returns false if the chunk is too small or the budget is spent. */
  takeReserved(amount: number): boolean {
    this.#startWindow();
    if (this.#remaining < amount) return false;
    this.#remaining -= amount;
    return true;
  }

  /** Takes an amount. Resolves to false if the budget of this window is spent. */
  async take(amount: number): Promise<boolean> {
    while (!this.takeReserved(amount)) {
      if (this.#isStoreEmpty) return false;
      this.#awaited += amount;
      await this.#reserve();
      this.#awaited -= amount;
    }
    return true;
  }

  /** Refunds an amount of a call that was not made. */
  refund(amount: number): void {
    this.#remaining += amount;
  }

  /** Takes an amount without waiting. May exceed the limit if other processes take amounts at the same time. */
  spend(amount: number): void {
    this.#startWindow();
    this.#remaining -= amount;
    if (this.#remaining < 0 && !this.#isStoreEmpty) void this.#reserve();
  }

  /** Such as `100 requests per day`. */
  get description(): string {
    const { windowSeconds } = this.#options;
    const noun = this.limit === 1 ? "request" : "requests";
    return `${this.limit} ${noun} per ${windowSeconds === SECONDS_PER_DAY ? "day" : "second"}`;
  }

  /** True if the budget of this window is known to be spent. */
  get isSpent(): boolean {
    this.#startWindow();
    return this.#isStoreEmpty && this.#remaining < 1;
  }

  #startWindow(): void {
    const { timers, windowSeconds } = this.#options;
    const window = Math.floor(timers.unixNow() / 1000 / windowSeconds);
    if (window === this.#window) return;
    this.#window = window;
    this.#remaining = 0;
    this.#isStoreEmpty = false;
  }

  #reserve(): Promise<void> {
    this.#reservation ??= this.#reserveChunk().finally(() => {
      this.#reservation = undefined;
    });
    return this.#reservation;
  }

  async #reserveChunk(): Promise<void> {
    const { name, limit, windowSeconds, store } = this.#options;
    const window = this.#window;
    const amount = Math.max(this.#chunk, this.#awaited - this.#remaining);
    // The counter outlives its window by a minute, for processes with slow clocks.
    const total = await store.add(`${name}:${windowSeconds}:${window}`, amount, windowSeconds + 60);
    if (window !== this.#window) return;
    const granted = Math.min(amount, Math.max(0, limit - (total - amount)));
    this.#remaining += granted;
    this.#isStoreEmpty = total >= limit;
  }
}
