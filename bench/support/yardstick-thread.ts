import { parentPort } from "node:worker_threads";

/** What servers spend much of their time with: a structure that is written and read, and leaves garbage. */
const STRUCTURE = Array.from({ length: 200 }, (_, index) => ({
  index,
  name: `validator ${index}`,
  at: { slot: index },
}));
const PASSES = 10;
/** The shortest of them counts: a thread that was asleep has to find its memory again. */
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
