import { deserializeSignedBlock } from "../../src/chain/blocks/block-encoding.ts";
import type { DevFork } from "../../src/dev/forks.ts";
import { printSetting } from "../support/table.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { Breakdown } from "./breakdown.ts";
import { benchHistory } from "./history.ts";
import { LibraryImport } from "./library-import.ts";
import { benchPeerSync } from "./peer-sync.ts";
import { PipelineImport, type PipelineOptions } from "./pipeline-import.ts";
import { type RecordedChain, recordChain } from "./record-chain.ts";
import { ownPartOf, printRounds, type Round } from "./summary.ts";

interface ImportOptions {
  epochs: number;
  rounds: number;
  /** Length of the history that is imported and synced as a whole. */
  historyEpochs: number;
}

const VALIDATORS = 64;
const BUDGET = 0.3;
const FORKS: readonly DevFork[] = ["phase0", "fulu"];

/** Prints tables per fork: of each write mode, of a history, and of a sync from a peer. Returns false if the pipeline exceeds its budget. */
export async function benchImport({ epochs, rounds, historyEpochs }: ImportOptions): Promise<boolean> {
  printSetting(`${VALIDATORS} validators, ${epochs} epochs, ${rounds} rounds after a warm-up`);
  let isWithinBudget = true;
  for (const fork of FORKS) {
    const recorded = await recordChain(fork, VALIDATORS, epochs);
    for (const sync of [false, true]) {
      await runRound(recorded, { sync });
      const measured: Round[] = [];
      for (let round = 0; round < rounds; round++) measured.push(await runRound(recorded, { sync }));
      printRounds(`${fork}, ${sync ? "writes synced to disk" : "writes left to the operating system"}`, measured);
      console.log();
      // The budget excludes synced writes, which depend on the disk.
      if (!sync && ownPartOf(measured) >= BUDGET) isWithinBudget = false;
    }
    await benchHistory(await recordChain(fork, VALIDATORS, historyEpochs));
    console.log();
    await benchPeerSync({ fork, validators: VALIDATORS, epochs: historyEpochs });
    console.log();
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
