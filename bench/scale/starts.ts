import { join } from "node:path";
import { megabytes, printHeader, printRow, seconds } from "../support/table.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { copyWithGenesisTime } from "./kept-state.ts";
import { type Program, ScaleNode } from "./scale-node.ts";
import { SECONDS_PER_SLOT, STATE_SLOT } from "./state.ts";
import type { Bench } from "./subject.ts";

/** Measures the time from process start to the first answer, from a checkpoint file and from the data directory. */
export async function benchStarts({ kept, programs, rounds }: Bench): Promise<void> {
  console.log(`\n### Starts with ${kept.validators} validators\n`);
  printHeader("program", "from", "first answer", "memory then", "peak memory");
  for (let round = 0; round < rounds; round++) {
    for (const program of programs) {
      await withTempDirectory(async (directory) => {
        const genesisTime = Math.floor(Date.now() / 1000) - STATE_SLOT * SECONDS_PER_SLOT;
        const stateFile = copyWithGenesisTime(kept, genesisTime, directory);
        const files = { ...kept, stateFile, dataDir: join(directory, "data") };
        await timeStart(program, "checkpoint file", files);
        await timeStart(program, "data directory", files);
      });
    }
  }
}

async function timeStart(program: Program, from: string, files: Parameters<typeof ScaleNode.start>[1]): Promise<void> {
  const node = await ScaleNode.start(program, files);
  try {
    const elapsed = performance.now() - node.startedAt;
    const { residentBytes, peakBytes } = node.usage;
    printRow(program.title, from, seconds(elapsed), megabytes(residentBytes), megabytes(peakBytes));
  } finally {
    await node.stop();
  }
}
