import { extname } from "node:path";
import { Worker } from "node:worker_threads";

let preloaded: Worker | undefined;

/** Starts the next thread ahead of its use: it loads the EVM while this thread loads the node. */
export function preloadEvm(): void {
  if (preloaded !== undefined) return;
  const worker = startThread("./worker", import.meta.url);
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
  const worker = preloaded ?? startThread("./worker", import.meta.url);
  preloaded = undefined;
  return worker;
}

/**
 * Starts a thread with a module, whose path is relative to the importing one and has the same extension, compiled or
 * not: the compiler does not rewrite paths outside of imports. Threads inherit the options of Node. `--input-type` is
 * for `--eval` only, and a thread with a file refuses it.
 */
export function startThread(path: string, importer: string): Worker {
  const hasInputType = process.execArgv.some((option) => option.startsWith("--input-type"));
  return new Worker(new URL(`${path}${extname(importer)}`, importer), hasInputType ? { execArgv: [] } : {});
}
