import { startThread, type ThreadPort } from "../../threads/thread.ts";
import { ThreadPool } from "../../threads/thread-pool.ts";

/** Threads of the process. A chain takes over the thread of a stopped one. */
const threads = new ThreadPool(() => startThread("./worker", import.meta.url));

/** Starts the next chain's thread early, so that it loads the EVM while this thread loads the node. */
export function preloadEvm(): void {
  threads.preload();
}

export function startEvmWorker(): ThreadPort {
  return threads.take();
}
