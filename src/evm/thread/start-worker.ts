import { extname } from "node:path";
import { Worker } from "node:worker_threads";

/** Same extension as this file, compiled or not: the compiler does not rewrite paths outside of imports. */
const WORKER = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

let preloaded: Worker | undefined;

/** Starts the next thread ahead of its use: it loads the EVM while this thread loads the node. */
export function preloadEvm(): void {
  if (preloaded !== undefined) return;
  preloaded = new Worker(WORKER);
  preloaded.unref();
}

export function startEvmWorker(): Worker {
  const worker = preloaded ?? new Worker(WORKER);
  preloaded = undefined;
  return worker;
}
