import { ReadThread } from "../../evm/reads/read-thread.ts";
import { startThread } from "../../threads/thread.ts";

let shared: ReadThread | undefined;

/** Returns the read thread shared by all chains in the process. */
export function sharedReadThread(): ReadThread {
  shared ??= new ReadThread({ startWorker: () => startThread("./worker", import.meta.url) });
  return shared;
}
