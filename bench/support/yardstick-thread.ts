import { parentPort } from "node:worker_threads";

/** What servers spend much of their time with: a structure that is written and read, and leaves garbage. */
const STRUCTURE = Array.from({ length: 200 }, (_, index) => ({
  index,
  name: `validator ${index}`,
  at: { slot: index },
}));
const PASSES = 40;
const WARM_UP_PASSES = 4000;

function work(passes: number): void {
  for (let pass = 0; pass < passes; pass++) JSON.parse(JSON.stringify(STRUCTURE));
}

work(WARM_UP_PASSES);
parentPort!.on("message", () => {
  const began = performance.now();
  work(PASSES);
  parentPort!.postMessage(performance.now() - began);
});
