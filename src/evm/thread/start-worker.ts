import { extname } from "node:path";
import { Worker } from "node:worker_threads";

/** Same extension as this file, compiled or not: the compiler does not rewrite paths outside of imports. */
const WORKER = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);
let preloaded: Worker | undefined;

/** Starts the next thread ahead of its use: it loads the EVM while this thread loads the node. */
export function preloadEvm(): void {
  if (preloaded !== undefined) return;
  const worker = start();
  preloaded = worker;
  worker.unref();
  const drop = () => {
    if (preloaded === worker) preloaded = undefined;
  };
  // The next thread fails the same way, and then its owner is told.
  worker.on("error", drop);
  worker.on("exit", drop);
}

export function startEvmWorker(): Worker {
  const worker = preloaded ?? start();
  preloaded = undefined;
  return worker;
}

/** Threads inherit the options of Node. `--input-type` is for `--eval` only, and a thread with a file refuses it. */
function start(): Worker {
  const hasInputType = process.execArgv.some((option) => option.startsWith("--input-type"));
  return new Worker(WORKER, hasInputType ? { execArgv: [] } : {});
}
