import { parentPort } from "node:worker_threads";

/** Typical server work: JSON encoding and parsing, with garbage. */
const STRUCTURE = Array.from({ length: 200 }, (_, index) => ({
  index,
  name: `validator ${index}`,
  at: { slot: index },
}));
const PASSES = 10;
/** The fastest repetition counts, which excludes cold caches after sleep. */
const REPETITIONS = 8;
const WARM_UP_PASSES = 4000;

function work(passes: number): number {
  const began = performance.now();
  for (let pass = 0; pass < passes; pass++) JSON.parse(JSON.stringify(STRUCTURE));
  return performance.now() - began;
}

work(WARM_UP_PASSES);
parentPort!.on("message", () => {
  parentPort!.postMessage(Math.min(...Array.from({ length: REPETITIONS }, () => work(PASSES))));
});
