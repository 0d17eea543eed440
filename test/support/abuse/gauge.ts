/**
 * Loaded into a node before its program (`--expose-gc --import`), which knows nothing of it: SIGUSR2 makes it print what
 * the node's memory is after a collection, and how long its event loop was held up since the last time.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";

/** One of two collections finds what the finalizers of the other let go. */
const COLLECTIONS = 2;

const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();

process.on("SIGUSR2", () => {
  const figures = { p99: delay.percentile(99) / 1e6, max: delay.max / 1e6, residentBytes: 0 };
  for (let made = 0; made < COLLECTIONS; made++) globalThis.gc?.();
  figures.residentBytes = process.memoryUsage.rss();
  process.stdout.write(`gauge: ${JSON.stringify(figures)}\n`);
  setImmediate(() => delay.reset());
});
