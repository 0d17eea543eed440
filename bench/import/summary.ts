import { mean, median } from "../support/statistics.ts";

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

/** Formats milliseconds per block and shares as Markdown. */
export function tableOf(rounds: readonly Round[]): string {
  const pipeline = typical(rounds, (times) => times.pipeline);
  const library = typical(rounds, (times) => times.library);
  const labels = [...new Set(rounds.flat().flatMap(({ parts }) => [...parts.keys()]))];
  const parts = labels
    .map((label) => ({ label, ms: typical(rounds, (times) => times.parts.get(label) ?? 0) }))
    .toSorted((a, b) => b.ms - a.ms);
  const rest = pipeline - parts.reduce((sum, { ms }) => sum + ms, 0);
  const line = (title: string, ms: number) =>
    `| ${title} | ${ms.toFixed(3)} | ${((100 * ms) / pipeline).toFixed(1)} % |`;
  return [
    "| | ms per block | share |",
    "| --- | ---: | ---: |",
    line("pipeline", pipeline),
    line("library alone", library),
    line("pipeline's own part", pipeline - library),
    ...parts.map(({ label, ms }) => line(`· ${label}`, ms)),
    line("· other", rest),
  ].join("\n");
}
