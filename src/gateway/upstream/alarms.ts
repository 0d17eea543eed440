import type { Timers } from "../../timers.ts";

/** How exact they are. */
const TICK_MILLIS = 4;

export interface Alarm {
  readonly at: number;
  readonly run: () => void;
}

/** Things to do at a time, most of which are called off before: one timer serves all of them, since one each costs more than they do. */
export class Alarms {
  readonly #timers: Pick<Timers, "now" | "every">;
  readonly #alarms = new Set<Alarm>();
  #endTicks: (() => void) | undefined;

  constructor(timers: Pick<Timers, "now" | "every">) {
    this.#timers = timers;
  }

  /** It has to be taken off with `delete` when it is not wanted any more. */
  add(millis: number, run: () => void): Alarm {
    const alarm = { at: this.#timers.now() + millis, run };
    this.#alarms.add(alarm);
    this.#endTicks ??= this.#timers.every(TICK_MILLIS, () => this.#tick());
    return alarm;
  }

  delete(alarm: Alarm): void {
    this.#alarms.delete(alarm);
  }

  close(): void {
    this.#alarms.clear();
    this.#tick();
  }

  #tick(): void {
    const now = this.#timers.now();
    for (const alarm of this.#alarms) {
      if (alarm.at > now) continue;
      this.#alarms.delete(alarm);
      alarm.run();
    }
    if (this.#alarms.size > 0) return;
    this.#endTicks?.();
    this.#endTicks = undefined;
  }
}
