import { onTestFinished } from "vitest";

/** Counts turns of the event loop until the test is over. Returns a function that reads the count. */
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
