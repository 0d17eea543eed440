/**
 * Loaded into a node before its program (`--expose-gc --import`), which knows nothing of it: SIGUSR1 makes it print what
 * the node's memory is after a collection, and how long its event loop was held up since the last time.
 */

/** One of two collections finds what the finalizers of the other let go. */
const COLLECTIONS = 2;
const LOOK_EVERY_MILLIS = 5;

interface Look {
  time: number;
  processor: number;
}

function look(): Look {
  const { user, system } = process.threadCpuUsage();
  return { time: performance.now(), processor: (user + system) / 1000 };
}

let last = look();
const longest: Look = { time: 0, processor: 0 };

setInterval(() => {
  const now = look();
  longest.time = Math.max(longest.time, now.time - last.time - LOOK_EVERY_MILLIS);
  longest.processor = Math.max(longest.processor, now.processor - last.processor);
  last = now;
}, LOOK_EVERY_MILLIS).unref();

process.on("SIGUSR1", () => {
  const { time, processor } = longest;
  for (let made = 0; made < COLLECTIONS; made++) globalThis.gc?.();
  const { rss: residentBytes, heapUsed: heapBytes, external: externalBytes } = process.memoryUsage();
  const figures = { heldUp: time, heldUpProcessor: processor, residentBytes, heapBytes, externalBytes };
  process.stdout.write(`gauge: ${JSON.stringify(figures)}\n`);
  last = look();
  Object.assign(longest, { time: 0, processor: 0 });
});
