import { setImmediate } from "node:timers";

let queue: (() => void)[] = [];

/**
 * Batches callbacks at the end of the event loop tick. Of consecutive writes to a process, only the first has to wake
 * it, which costs more than the write.
 */
export function runAtTickEnd(run: () => void): void {
  if (queue.push(run) === 1) setImmediate(runAll);
}

function runAll(): void {
  const runs = queue;
  queue = [];
  for (const run of runs) run();
}
