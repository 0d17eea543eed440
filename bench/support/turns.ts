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
