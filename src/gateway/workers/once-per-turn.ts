import { setImmediate } from "node:timers";

/** Runs something at the end of a turn of the event loop, once, however often that was asked for in it. */
export function oncePerTurn(run: () => void): () => void {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      run();
    });
  };
}
