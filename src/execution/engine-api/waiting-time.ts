import type { Timers } from "../../async/timers.ts";

/** How long anything was waited for; what is waited for at the same time counts once. */
export class WaitingTime {
  readonly #timers: Pick<Timers, "now">;
  #underWay = 0;
  #since = 0;
  #pastMs = 0;

  constructor(timers: Pick<Timers, "now">) {
    this.#timers = timers;
  }

  get ms(): number {
    return this.#underWay === 0 ? this.#pastMs : this.#pastMs + this.#timers.now() - this.#since;
  }

  async during<T>(wait: () => Promise<T>): Promise<T> {
    if (this.#underWay++ === 0) this.#since = this.#timers.now();
    try {
      return await wait();
    } finally {
      if (--this.#underWay === 0) this.#pastMs += this.#timers.now() - this.#since;
    }
  }
}
