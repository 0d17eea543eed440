import { ReadThread } from "../../evm/reads/read-thread.ts";
import { startThread } from "../../threads/thread.ts";

let shared: ReadThread | undefined;

/** Returns the thread for reads that the chains of the process share. */
export function sharedReadThread(): ReadThread {
  shared ??= new ReadThread({ startWorker: () => startThread("./worker", import.meta.url) });
  return shared;
}
