import { deserializeSignedBlock } from "../../src/chain/blocks/block-encoding.ts";
import type { DevFork } from "../../src/dev/forks.ts";
import { describeMachine } from "../support/machine.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { Breakdown } from "./breakdown.ts";
import { LibraryImport } from "./library-import.ts";
import { PipelineImport, type PipelineOptions } from "./pipeline-import.ts";
import { type RecordedChain, recordChain } from "./record-chain.ts";
import { ownPartOf, type Round, tableOf } from "./summary.ts";

const VALIDATORS = 64;
const BUDGET = 0.3;
const FORKS: readonly DevFork[] = ["phase0", "fulu"];

/** Prints one table per fork and write mode. Returns false if the pipeline exceeds its budget. */
export async function benchImport({ epochs, rounds }: { epochs: number; rounds: number }): Promise<boolean> {
  console.log(`${describeMachine()}; ${VALIDATORS} validators, ${epochs} epochs, ${rounds} rounds after a warm-up`);
  let isWithinBudget = true;
  for (const fork of FORKS) {
    const recorded = await recordChain(fork, VALIDATORS, epochs);
    for (const sync of [false, true]) {
      await runRound(recorded, { sync });
      const measured: Round[] = [];
      for (let round = 0; round < rounds; round++) measured.push(await runRound(recorded, { sync }));
      console.log(`\n${fork}, ${sync ? "writes synced to disk" : "writes left to the operating system"}`);
      console.log(tableOf(measured));
      // The budget excludes synced writes, which depend on the disk.
      if (!sync && ownPartOf(measured) >= BUDGET) isWithinBudget = false;
    }
  }
  return isWithinBudget;
}

/** Imports the chain with pipeline and library, block by block in turn, so that noise affects both. */
function runRound(recorded: RecordedChain, options: PipelineOptions): Promise<Round> {
  return withTempDirectory(async (directory) => {
    const pipeline = await PipelineImport.open(directory, recorded, options);
    const breakdown = new Breakdown(recorded, pipeline);
    const library = new LibraryImport(recorded);
    const round: Round = [];
    try {
      for (const [index, bytes] of recorded.blocks.entries()) {
        const block = () => deserializeSignedBlock(recorded.config, bytes);
        const importByPipeline = async () => {
          await pipeline.tick(index + 1);
          const signed = block();
          return breakdown.time(() => pipeline.import(signed));
        };
        const importByLibrary = () => {
          const signed = block();
          const start = performance.now();
          library.import(signed);
          return performance.now() - start;
        };
        // The second import finds warm CPU caches, so the order alternates.
        const before = index % 2 === 0 ? importByLibrary() : undefined;
        const { milliseconds, parts } = await importByPipeline();
        round.push({ pipeline: milliseconds, library: before ?? importByLibrary(), parts });
      }
    } finally {
      breakdown.end();
      await pipeline.close();
    }
    return round;
  });
}
