import type { Timers } from "../async/timers.ts";

/** Measures the total time during which at least one call is pending. */
export class WaitingTime {
  readonly #timers: Pick<Timers, "now">;
  #pending = 0;
  #since = 0;
  #pastMs = 0;

  constructor(timers: Pick<Timers, "now">) {
    this.#timers = timers;
  }

  get ms(): number {
    return this.#pending === 0 ? this.#pastMs : this.#pastMs + this.#timers.now() - this.#since;
  }

  async during<T>(wait: () => Promise<T>): Promise<T> {
    if (this.#pending++ === 0) this.#since = this.#timers.now();
    try {
      return await wait();
    } finally {
      if (--this.#pending === 0) this.#pastMs += this.#timers.now() - this.#since;
    }
  }
}
