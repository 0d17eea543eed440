import { setTimeout } from "node:timers/promises";
import { median } from "./statistics.ts";
import type { Yardstick } from "./yardstick.ts";

/**
 * Runs all measurements in each round, after a warm-up round. The order rotates, since each measurement affects the
 * next.
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
  /** Slowdown of the machine during the turns, relative to its best time. */
  slowdown: number;
}

/** Maximum wait for a calm machine, per comparison. */
const TIMEOUT_MILLIS = 60_000;
const PAUSE_MILLIS = 50;

/**
 * Runs short turns of each comparison while the machine is calm, or uses the calmest turns after a timeout. The
 * measurements of a comparison directly follow each other. Comparisons alternate, so that noise affects all.
 */
export async function takeCalmTurns<T>(
  yardstick: Yardstick,
  turns: number,
  comparisons: readonly (readonly (() => Promise<T>)[])[],
): Promise<CalmTurns<T>[]> {
  const deadline = performance.now() + TIMEOUT_MILLIS * comparisons.length;
  const rows = comparisons.map((measurements) => new CalmRow(measurements, turns));
  for (;;) {
    const isBeforeDeadline = performance.now() < deadline;
    const open = rows.filter((row) => (isBeforeDeadline ? row.isLackingCalm(yardstick) : row.isLacking));
    if (open.length === 0) return rows.map((row) => row.result(yardstick));
    const before = await yardstick.measure();
    if (isBeforeDeadline && !yardstick.isCalm(before)) {
      await setTimeout(PAUSE_MILLIS);
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
