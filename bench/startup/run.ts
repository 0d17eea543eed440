import { type ChainHead, withNode } from "../support/node-process.ts";
import { median } from "../support/statistics.ts";
import { printHeader, printRow, printSetting, seconds } from "../support/table.ts";

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
  printSetting(`fanal dev --rpc with its defaults, ${runs} runs`);
  printHeader("run", "first getChainHead", `finalized_slot ≥ ${FINALIZED_SLOT}`);
  const times: StartupTimes[] = [];
  for (let run = 1; run <= runs; run++) {
    times.push(await timeStart());
    printTimes(String(run), times.at(-1)!);
  }
  printTimes("median", {
    firstAnswer: median(times.map(({ firstAnswer }) => firstAnswer)),
    finalized: median(times.map(({ finalized }) => finalized)),
  });
}

function timeStart(): Promise<StartupTimes> {
  return withNode(["dev"], async (program) => {
    await program.head();
    const firstAnswer = performance.now() - program.startedAt;
    const isFinalized = ({ finalized_slot }: ChainHead) => Number(finalized_slot) >= FINALIZED_SLOT;
    await program.callUntil("getChainHead", isFinalized, { pollMs: POLL_MS });
    return { firstAnswer, finalized: performance.now() - program.startedAt };
  });
}

function printTimes(name: string, { firstAnswer, finalized }: StartupTimes): void {
  printRow(name, seconds(firstAnswer), seconds(finalized));
}
