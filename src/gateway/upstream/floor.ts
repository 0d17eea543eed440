import type { Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";

/** Where an upstream that can be asked has its head, and how far it was before. */
interface Reach {
  readonly slot: number;
  readonly highest: number;
}

interface FloorOptions {
  timers: Pick<Timers, "now">;
  logger: Logger;
  /** How long nobody may reach it before it is let go. */
  patienceMillis: number;
}

/** The slot of the head that clients have been told. */
export class Floor {
  readonly #timers: Pick<Timers, "now">;
  readonly #logger: Logger;
  readonly #patienceMillis: number;
  #slot = 0;
  #unreachedSince: number | undefined;

  constructor({ timers, logger, patienceMillis }: FloorOptions) {
    this.#timers = timers;
    this.#logger = logger;
    this.#patienceMillis = patienceMillis;
  }

  get slot(): number {
    return this.#slot;
  }

  /** Whether it is another one now. */
  raise(slot: number, limit: number): boolean {
    const raised = Math.min(slot, limit);
    if (raised <= this.#slot) return false;
    this.#slot = raised;
    return true;
  }

  /** Looks whether upstreams that can be asked still reach it, and lets it go when they do not. Tells whether it did. */
  check(reaches: readonly Reach[]): boolean {
    if (reaches.some(({ slot }) => slot >= this.#slot)) {
      this.#unreachedSince = undefined;
      return false;
    }
    const now = this.#timers.now();
    this.#unreachedSince ??= now;
    if (reaches.length === 0) return false;
    // Those who had reached it and have not now follow another branch: it is the chain itself that has gone back.
    const isReorged = reaches.some(({ highest }) => highest >= this.#slot);
    if (!isReorged && now - this.#unreachedSince < this.#patienceMillis) return false;
    const from = this.#slot;
    this.#slot = Math.max(...reaches.map(({ slot }) => slot));
    this.#unreachedSince = undefined;
    if (!isReorged) {
      this.#logger.warn(
        "No upstream comes to the head that clients have been told of: they are told of an earlier one",
        {
          from,
          to: this.#slot,
        },
      );
    }
    return true;
  }
}
