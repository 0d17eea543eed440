import type { Worker } from "node:worker_threads";
import { startThread } from "../../threads/thread.ts";

let preloaded: Worker | undefined;

/** Starts the next thread early, so that it loads the EVM while this thread loads the node. */
export function preloadEvm(): void {
  if (preloaded !== undefined) return;
  const worker = startThread("./worker", import.meta.url);
  preloaded = worker;
  worker.unref();
  const drop = () => {
    if (preloaded === worker) preloaded = undefined;
  };
  // The next thread fails the same way and reports the error to its owner.
  worker.on("error", drop);
  worker.on("exit", drop);
}

export function startEvmWorker(): Worker {
  const worker = preloaded ?? startThread("./worker", import.meta.url);
  preloaded = undefined;
  return worker;
}
