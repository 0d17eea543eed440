import type { Timers } from "../../async/timers.ts";

/** How exact they are. */
const TICK_MILLIS = 4;

export class Alarm {
  readonly at: number;
  readonly run: () => void;
  /** Among all; undefined when it is not there any more. */
  position: number | undefined;

  constructor(at: number, run: () => void, position: number) {
    this.at = at;
    this.run = run;
    this.position = position;
  }
}

/**
 * Things to do at a time, most of which are called off before: one timer serves all of them, since one each costs more than they do. They
 * are in an array, because a set that others come into and leave all the time makes itself anew again and again, and each time leaves
 * behind something that holds all that was in it, with the calls that it is of, until the next collection of all garbage.
 */
export class Alarms {
  readonly #timers: Pick<Timers, "now" | "every">;
  /** In any order. */
  readonly #alarms: Alarm[] = [];
  #endTicks: (() => void) | undefined;

  constructor(timers: Pick<Timers, "now" | "every">) {
    this.#timers = timers;
  }

  /** It has to be taken off with `delete` when it is not wanted any more. */
  add(millis: number, run: () => void): Alarm {
    const alarm = new Alarm(this.#timers.now() + millis, run, this.#alarms.length);
    this.#alarms.push(alarm);
    this.#endTicks ??= this.#timers.every(TICK_MILLIS, () => this.#tick());
    return alarm;
  }

  /** The last one takes its place. */
  delete(alarm: Alarm): void {
    const { position } = alarm;
    if (position === undefined) return;
    alarm.position = undefined;
    const last = this.#alarms.pop()!;
    if (last === alarm) return;
    this.#alarms[position] = last;
    last.position = position;
  }

  close(): void {
    for (const alarm of [...this.#alarms]) this.delete(alarm);
    this.#tick();
  }

  #tick(): void {
    const now = this.#timers.now();
    for (const alarm of this.#alarms.filter(({ at }) => at <= now)) {
      // Those that are due may call off each other.
      if (alarm.position === undefined) continue;
      this.delete(alarm);
      alarm.run();
    }
    if (this.#alarms.length > 0) return;
    this.#endTicks?.();
    this.#endTicks = undefined;
  }
}
