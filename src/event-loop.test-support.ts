import { onTestFinished } from "vitest";

/** Tells how many turns of the event loop have begun since it was called, until the test is over. */
export function countTurns(): () => number {
  let turns = 0;
  let next = setImmediate(count);
  function count(): void {
    turns++;
    next = setImmediate(count);
  }
  onTestFinished(() => clearImmediate(next));
  return () => turns;
}
