import { setTimeout } from "node:timers/promises";
import { median } from "./statistics.ts";
import type { Yardstick } from "./yardstick.ts";

/**
 * The measurements of each one, round by round, after a first round that warms up and does not count. Whoever comes
 * later finds the machine as the others have left it, so another one is first in each round.
 */
export async function takeTurns<T>(rounds: number, measurements: readonly (() => Promise<T>)[]): Promise<T[][]> {
  const measured = measurements.map((): T[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (let turn = 0; turn < measurements.length; turn++) {
      const which = (round + turn) % measurements.length;
      const result = await measurements[which]!();
      if (round > 0) measured[which]!.push(result);
    }
  }
  return measured;
}

export interface CalmTurns<T> {
  measured: T[][];
  /** How many times longer than at best the machine took for the same work meanwhile. */
  slowdown: number;
}

/** How long a machine that is not calm is waited for, for each of those that are compared. */
const PATIENCE_MILLIS = 60_000;
const RESPITE_MILLIS = 50;

/**
 * So many short turns of each comparison while the machine is calm; the calmest there were, where it is not for long. A
 * comparison is what is measured right after each other; they take turns themselves, so that none has the better
 * minutes.
 */
export async function takeCalmTurns<T>(
  yardstick: Yardstick,
  turns: number,
  comparisons: readonly (readonly (() => Promise<T>)[])[],
): Promise<CalmTurns<T>[]> {
  const patientUntil = performance.now() + PATIENCE_MILLIS * comparisons.length;
  const rows = comparisons.map((measurements) => new CalmRow(measurements, turns));
  for (;;) {
    const isPatient = performance.now() < patientUntil;
    const open = rows.filter((row) => (isPatient ? row.isLackingCalm(yardstick) : row.isLacking));
    if (open.length === 0) return rows.map((row) => row.result(yardstick));
    const before = await yardstick.measure();
    if (isPatient && !yardstick.isCalm(before)) {
      await setTimeout(RESPITE_MILLIS);
      continue;
    }
    const fewest = Math.min(...open.map(({ taken }) => taken));
    await open.find(({ taken }) => taken === fewest)!.take(yardstick, before);
  }
}

class CalmRow<T> {
  readonly #measurements: readonly (() => Promise<T>)[];
  readonly #turns: number;
  readonly #taken: { results: T[]; millis: number }[] = [];

  constructor(measurements: readonly (() => Promise<T>)[], turns: number) {
    this.#measurements = measurements;
    this.#turns = turns;
  }

  get taken(): number {
    return this.#taken.length;
  }

  get isLacking(): boolean {
    return this.taken < this.#turns;
  }

  isLackingCalm(yardstick: Yardstick): boolean {
    return this.#taken.filter(({ millis }) => yardstick.isCalm(millis)).length < this.#turns;
  }

  async take(yardstick: Yardstick, before: number): Promise<void> {
    const { length } = this.#measurements;
    const results: T[] = [];
    let millis = before;
    for (let next = 0; next < length; next++) {
      const which = (this.#taken.length + next) % length;
      results[which] = await this.#measurements[which]!();
      millis = Math.max(millis, await yardstick.measure());
    }
    this.#taken.push({ results, millis });
  }

  result(yardstick: Yardstick): CalmTurns<T> {
    const calmest = this.#taken.toSorted((a, b) => a.millis - b.millis).slice(0, this.#turns);
    return {
      measured: this.#measurements.map((_, which) => calmest.map(({ results }) => results[which]!)),
      slowdown: yardstick.ratio(median(calmest.map(({ millis }) => millis))),
    };
  }
}
