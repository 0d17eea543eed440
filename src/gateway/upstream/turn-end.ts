import { setImmediate } from "node:timers";

let waiting: (() => void)[] = [];

/**
 * Does something at the end of this turn of the event loop, in one go with all else that waits for that. Of what is written in one go
 * to the same program only the first has to wake it, which takes longer than to write.
 */
export function atTurnEnd(run: () => void): void {
  if (waiting.push(run) === 1) setImmediate(runAll);
}

function runAll(): void {
  const runs = waiting;
  waiting = [];
  for (const run of runs) run();
}
