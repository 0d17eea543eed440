import { onTestFinished } from "vitest";

/** Counts event loop turns until the end of the test. Returns a function that reads the count. */
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
