import { setTimeout } from "node:timers/promises";
import { median } from "./statistics.ts";
import type { Yardstick } from "./yardstick.ts";

/**
 * The measurements of each one, round by round, after a first round that warms up and does not count. Whoever comes later finds the
 * machine as the others have left it, so another one is first in each round.
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

/** How long a machine that is not calm is waited for. */
const PATIENCE_MILLIS = 20_000;
const RESPITE_MILLIS = 50;

/** So many short turns while the machine is calm; the calmest there were, where it is not for long. */
export async function takeCalmTurns<T>(
  yardstick: Yardstick,
  turns: number,
  measurements: readonly (() => Promise<T>)[],
): Promise<CalmTurns<T>> {
  const patientUntil = performance.now() + PATIENCE_MILLIS;
  const taken: { results: T[]; millis: number }[] = [];
  let calm = 0;
  while (calm < turns && (taken.length < turns || performance.now() < patientUntil)) {
    let millis = await yardstick.measure();
    if (!yardstick.isCalm(millis) && performance.now() < patientUntil) {
      await setTimeout(RESPITE_MILLIS);
      continue;
    }
    const results: T[] = [];
    for (let next = 0; next < measurements.length; next++) {
      const which = (taken.length + next) % measurements.length;
      results[which] = await measurements[which]!();
      millis = Math.max(millis, await yardstick.measure());
    }
    taken.push({ results, millis });
    if (yardstick.isCalm(millis)) calm++;
  }
  const calmest = taken.toSorted((a, b) => a.millis - b.millis).slice(0, turns);
  return {
    measured: measurements.map((_, which) => calmest.map(({ results }) => results[which]!)),
    slowdown: yardstick.ratio(median(calmest.map(({ millis }) => millis))),
  };
}
