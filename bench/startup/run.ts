import { describeMachine } from "../support/machine.ts";
import { type ChainHead, NodeProcess } from "../support/node-process.ts";
import { median } from "../support/statistics.ts";
import { withTempDirectory } from "../support/temp-directory.ts";

/** Precise enough, without loading the program. */
const POLL_MS = 10;
/** Two epochs of the minimal preset. */
const FINALIZED_SLOT = 16;

interface StartupTimes {
  firstAnswer: number;
  finalized: number;
}

/** Starts the real program repeatedly on an empty data directory, and prints the times of each start. */
export async function benchStartup(runs: number): Promise<void> {
  console.log(`${describeMachine()}; fanal dev --rpc with its defaults, ${runs} runs\n`);
  console.log(`| run | first getChainHead | finalized_slot ≥ ${FINALIZED_SLOT} |`);
  console.log("| --- | ---: | ---: |");
  const times: StartupTimes[] = [];
  for (let run = 1; run <= runs; run++) {
    times.push(await timeStart());
    printRow(String(run), times.at(-1)!);
  }
  printRow("median", {
    firstAnswer: median(times.map(({ firstAnswer }) => firstAnswer)),
    finalized: median(times.map(({ finalized }) => finalized)),
  });
}

function timeStart(): Promise<StartupTimes> {
  return withTempDirectory(async (directory) => {
    const program = await NodeProcess.start("The program", ["dev", "--data-dir", directory]);
    try {
      await program.head();
      const firstAnswer = performance.now() - program.startedAt;
      const isFinalized = ({ finalized_slot }: ChainHead) => Number(finalized_slot) >= FINALIZED_SLOT;
      await program.callUntil("getChainHead", isFinalized, { pollMs: POLL_MS });
      return { firstAnswer, finalized: performance.now() - program.startedAt };
    } finally {
      await program.stop();
    }
  });
}

function printRow(name: string, { firstAnswer, finalized }: StartupTimes): void {
  const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(2)} s`;
  console.log(`| ${name} | ${seconds(firstAnswer)} | ${seconds(finalized)} |`);
}
