import { startThread, type ThreadPort } from "../../threads/thread.ts";
import { ThreadPool } from "../../threads/thread-pool.ts";

/** Without a limit, a thread of a long chain keeps 50 MB for new objects. A smaller limit costs processor time. */
const resourceLimits = { maxYoungGenerationSizeMb: 24 };
/** Threads of the process. A chain takes over the thread of a stopped one. */
const threads = new ThreadPool(() => startThread("./worker", import.meta.url, { resourceLimits }));

/** Starts the next chain's thread early, so that it loads the EVM while this thread loads the node. */
export function preloadEvm(): void {
  threads.preload();
}

export function startEvmWorker(): ThreadPort {
  return threads.take();
}
