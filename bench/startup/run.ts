import { describeMachine } from "../support/machine.ts";
import { median } from "../support/statistics.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { StartedProgram } from "./started-program.ts";

/** Two epochs of the minimal preset. */
const FINALIZED_SLOT = 16;

interface StartupTimes {
  firstAnswer: number;
  finalized: number;
}

/** Starts the real program on an empty data directory, again and again, and prints what each start took. */
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
    const start = performance.now();
    const program = StartedProgram.dev(directory);
    try {
      await program.chainHeadWhere(() => true);
      const firstAnswer = performance.now() - start;
      await program.chainHeadWhere(({ finalized_slot }) => Number(finalized_slot) >= FINALIZED_SLOT);
      return { firstAnswer, finalized: performance.now() - start };
    } finally {
      await program.stop();
    }
  });
}

function printRow(name: string, { firstAnswer, finalized }: StartupTimes): void {
  const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(2)} s`;
  console.log(`| ${name} | ${seconds(firstAnswer)} | ${seconds(finalized)} |`);
}
