import { mean, median, sum } from "../support/statistics.ts";
import { percent, printHeader, printRow } from "../support/table.ts";

/** Milliseconds for one block with pipeline and library. */
interface BlockTimes {
  pipeline: number;
  library: number;
  /** Time of the pipeline by part. */
  parts: ReadonlyMap<string, number>;
}

/** One entry per block. Every round imports the same blocks. */
export type Round = BlockTimes[];

/**
 * Mean over all blocks of the median over all rounds: removes outliers, but keeps the weight of expensive blocks such
 * as the first of an epoch.
 */
function typical(rounds: readonly Round[], figure: (times: BlockTimes) => number): number {
  const blocks = rounds[0] ?? [];
  return mean(blocks.map((_, index) => median(rounds.map((round) => figure(round[index]!)))));
}

/** Share of an import that the pipeline adds to the library's work. */
export function ownPartOf(rounds: readonly Round[]): number {
  return 1 - typical(rounds, ({ library }) => library) / typical(rounds, ({ pipeline }) => pipeline);
}

/** Prints milliseconds per block and shares. */
export function printRounds(title: string, rounds: readonly Round[]): void {
  const pipeline = typical(rounds, (times) => times.pipeline);
  const library = typical(rounds, (times) => times.library);
  const labels = [...new Set(rounds.flat().flatMap(({ parts }) => [...parts.keys()]))];
  const parts = labels
    .map((label) => ({ label, ms: typical(rounds, (times) => times.parts.get(label) ?? 0) }))
    .toSorted((a, b) => b.ms - a.ms);
  const rest = pipeline - sum(parts.map(({ ms }) => ms));
  const print = (what: string, ms: number) => printRow(what, ms.toFixed(3), percent(ms / pipeline, 1));
  printHeader(title, "ms per block", "share");
  print("pipeline", pipeline);
  print("library alone", library);
  print("pipeline's own part", pipeline - library);
  for (const { label, ms } of parts) print(`· ${label}`, ms);
  print("· other", rest);
}
