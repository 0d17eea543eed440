import { DasContextJs } from "@crate-crypto/node-eth-kzg";
import { KzgThread } from "../../src/data/kzg-thread.ts";
import { createLogger } from "../../src/log/pino-logger.ts";
import { describeMachine } from "../support/machine.ts";
import { median } from "../support/statistics.ts";
import { benchImport } from "./block-import.ts";
import { MainThread } from "./main-thread.ts";
import { subjects } from "./subjects.ts";

const LONGEST_MS = 30;

/** Prints what was measured; false when the main thread was held up for longer than it may. */
export async function benchData({ rounds }: { rounds: number }): Promise<boolean> {
  console.log(`${describeMachine()}; medians of ${rounds} rounds\n`);
  const { logger } = createLogger({ format: "text", spec: "WARN", destination: process.stderr });
  const kzg = new KzgThread(logger);
  const mainThread = new MainThread();
  try {
    const start = performance.now();
    const all = await subjects(kzg);
    console.log(`The thread, its setup and what is to be verified were there after ${seconds(start)} s.`);
    const startOfLibrary = performance.now();
    const library = DasContextJs.create({ usePrecomp: true });
    console.log(`The same setup on the spot took ${seconds(startOfLibrary)} s.\n`);
    console.log("| | in the thread, ms | library, on the spot, ms | ratio | longest hold-up of the main thread, ms |");
    console.log("| --- | ---: | ---: | ---: | ---: |");
    let longest = 0;
    for (const { name, inThread, onTheSpot } of all) {
      const times = { thread: [] as number[], spot: [] as number[], holdUp: [] as number[] };
      // In turn, so that whatever disturbs the machine disturbs both.
      for (let round = 0; round < rounds; round++) {
        times.spot.push(await timed(() => onTheSpot(library)));
        mainThread.takeLongestMs();
        times.thread.push(await timed(() => inThread(kzg)));
        times.holdUp.push(mainThread.takeLongestMs());
      }
      const [thread, spot] = [median(times.thread), median(times.spot)];
      const holdUp = Math.max(...times.holdUp);
      longest = Math.max(longest, holdUp);
      const figures = [thread.toFixed(1), spot.toFixed(1), (thread / spot).toFixed(2), holdUp.toFixed(1)];
      console.log(`| ${name} | ${figures.join(" | ")} |`);
    }
    console.log("\n| | ms | longest hold-up of the main thread, ms |\n| --- | ---: | ---: |");
    for (const { name, milliseconds, longestHoldUpMs } of await benchImport(rounds, mainThread)) {
      longest = Math.max(longest, longestHoldUpMs);
      console.log(`| ${name} | ${milliseconds.toFixed(0)} | ${longestHoldUpMs.toFixed(1)} |`);
    }
    return longest < LONGEST_MS;
  } finally {
    mainThread.close();
    await kzg.close();
  }
}

async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(1);
