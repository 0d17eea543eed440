import { setImmediate } from "node:timers";

/** Returns a function that schedules `run` for the end of the event loop tick, at most once per tick. */
export function coalesce(run: () => void): () => void {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      run();
    });
  };
}
