import type { Timers } from "../../async/timers.ts";
import type { Clock } from "../../chain/clock/clock.ts";
import type { DevTime } from "../control/time.ts";

/**
 * Maximum number of consecutive slots without a block, for example because proposers are slashed or offline. After
 * that, transactions stay in the pool.
 */
const MAX_EMPTY_SLOTS = 32;

/**
 * Time limit for consecutive slots without a block. Such slots are slow if a replaced system contract uses up its gas
 * in each of them. The call that repairs the contract has to wait until the run is over.
 */
const MAX_EMPTY_MS = 5000;

interface AutomineParts {
  clock: Pick<Clock, "isFlowing">;
  time: Pick<DevTime, "isFixed" | "whilePaused" | "advanceSlot">;
  /** False until the initial history is complete. */
  isLive(): boolean;
  /** Resolves once the EVM has caught up with the head. */
  untilFollowed(): Promise<void>;
  headSlot(): number;
  /** Returns the number of transactions that the next block can include. */
  executableCount(): Promise<number>;
  timers: Pick<Timers, "now">;
}

/** Builds a block for each transaction while time is paused, as Anvil does. */
export class Automine {
  readonly #parts: AutomineParts;
  /** A run that has not begun yet. Transactions that arrive before the run begins share it. */
  #next: Promise<void> | undefined;
  isEnabled = true;

  constructor(parts: AutomineParts) {
    this.#parts = parts;
  }

  /** Resolves once the pooled transactions are in blocks, or immediately while the clock is running. */
  async onTransaction(): Promise<void> {
    if (!this.#isDue) return;
    this.#next ??= this.#parts.time.whilePaused(async (wasFlowing) => {
      this.#next = undefined;
      if (!wasFlowing && this.isEnabled) await this.#mine();
    });
    const run = this.#next;
    try {
      await run;
    } finally {
      if (this.#next === run) this.#next = undefined;
    }
  }

  get #isDue(): boolean {
    const { clock, time, isLive } = this.#parts;
    return this.isEnabled && isLive() && !time.isFixed && !clock.isFlowing;
  }

  /**
   * Runs slots while blocks include transactions, since a single block may be too small for all of them. Empty slots do
   * not count.
   */
  async #mine(): Promise<void> {
    const { time, headSlot, untilFollowed, executableCount, timers } = this.#parts;
    const count = async () => {
      await untilFollowed();
      return executableCount();
    };
    let before = Number.POSITIVE_INFINITY;
    let emptySlots = 0;
    let emptySince = timers.now();
    const isGivenUp = () =>
      emptySlots >= MAX_EMPTY_SLOTS || (emptySlots > 0 && timers.now() - emptySince > MAX_EMPTY_MS);
    for (let executable = await count(); executable > 0 && !isGivenUp(); executable = await count()) {
      if (emptySlots === 0 && executable >= before) return;
      const head = headSlot();
      if (emptySlots === 0) emptySince = timers.now();
      await time.advanceSlot();
      emptySlots = headSlot() > head ? 0 : emptySlots + 1;
      before = executable;
    }
  }
}
