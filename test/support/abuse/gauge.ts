/**
 * Preloaded into a node (`--expose-gc --import`): SIGUSR1 prints its memory after garbage collection, and the longest
 * event loop delay since the last signal.
 */

/** The second collection frees objects released by finalizers of the first. */
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
  const figures = { blockedMillis: time, blockedCpuMillis: processor, residentBytes, heapBytes, externalBytes };
  process.stdout.write(`gauge: ${JSON.stringify(figures)}\n`);
  last = look();
  Object.assign(longest, { time: 0, processor: 0 });
});
