import type { Timers } from "../../../async/timers.ts";
import type { Logger } from "../../../log/logger.ts";

/** Current and highest head of a usable upstream. */
interface HeadProgress {
  readonly slot: number;
  readonly maxHeadSlot: number;
}

interface HeadFloorOptions {
  timers: Pick<Timers, "now">;
  logger: Logger;
  /** How long the floor may be out of reach before it is lowered. */
  graceMillis: number;
}

/** The head floor: the slot of the newest head that a client has seen. */
export class HeadFloor {
  readonly #timers: Pick<Timers, "now">;
  readonly #logger: Logger;
  readonly #graceMillis: number;
  #slot = 0;
  #unreachedSince: number | undefined;

  constructor({ timers, logger, graceMillis }: HeadFloorOptions) {
    this.#timers = timers;
    this.#logger = logger;
    this.#graceMillis = graceMillis;
  }

  get slot(): number {
    return this.#slot;
  }

  /** Raises the floor, unless the slot is beyond `limit` and thus not credible. Returns true if the floor changed. */
  raise(slot: number, limit: number): boolean {
    if (slot <= this.#slot || slot > limit) return false;
    this.#slot = slot;
    return true;
  }

  /** Lowers the floor if no usable upstream reaches it any more. Returns true if the floor changed. */
  lowerIfUnreached(heads: readonly HeadProgress[]): boolean {
    if (heads.some(({ slot }) => slot >= this.#slot)) {
      this.#unreachedSince = undefined;
      return false;
    }
    const now = this.#timers.now();
    this.#unreachedSince ??= now;
    if (heads.length === 0) return false;
    // An upstream that was at the floor and is now below it has followed a reorg.
    const isReorg = heads.some(({ maxHeadSlot }) => maxHeadSlot >= this.#slot);
    if (!isReorg && now - this.#unreachedSince < this.#graceMillis) return false;
    const from = this.#slot;
    this.#slot = Math.max(...heads.map(({ slot }) => slot));
    this.#unreachedSince = undefined;
    if (!isReorg) {
      this.#logger.warn("No upstream has reached the served head, lowering the head floor", {
        from,
        to: this.#slot,
      });
    }
    return true;
  }
}
