import { mean, median } from "../support/statistics.ts";

/** Milliseconds for one block, imported both ways. */
interface BlockTimes {
  pipeline: number;
  library: number;
  /** What the pipeline spent its time on, as far as that is told apart. */
  parts: ReadonlyMap<string, number>;
}

/** One entry a block; every round imports the same blocks. */
export type Round = BlockTimes[];

/**
 * For each block the median of the rounds, then the mean of all blocks: disturbances from outside fall away, while what
 * is dear by nature, such as the first block of an epoch, keeps its weight.
 */
function typical(rounds: readonly Round[], figure: (times: BlockTimes) => number): number {
  const blocks = rounds[0] ?? [];
  return mean(blocks.map((_, index) => median(rounds.map((round) => figure(round[index]!)))));
}

/** Which part of an import is the pipeline's own. */
export function ownPartOf(rounds: readonly Round[]): number {
  return 1 - typical(rounds, ({ library }) => library) / typical(rounds, ({ pipeline }) => pipeline);
}

/** Milliseconds a block and parts of the whole, as Markdown. */
export function tableOf(rounds: readonly Round[]): string {
  const pipeline = typical(rounds, (times) => times.pipeline);
  const library = typical(rounds, (times) => times.library);
  const labels = [...new Set(rounds.flat().flatMap(({ parts }) => [...parts.keys()]))];
  const parts = labels
    .map((label) => ({ label, ms: typical(rounds, (times) => times.parts.get(label) ?? 0) }))
    .toSorted((a, b) => b.ms - a.ms);
  const rest = pipeline - parts.reduce((sum, { ms }) => sum + ms, 0);
  const line = (what: string, ms: number) => `| ${what} | ${ms.toFixed(3)} | ${((100 * ms) / pipeline).toFixed(1)} % |`;
  return [
    "| | ms a block | of the total |",
    "| --- | ---: | ---: |",
    line("pipeline", pipeline),
    line("library alone", library),
    line("the pipeline's own", pipeline - library),
    ...parts.map(({ label, ms }) => line(`· ${label}`, ms)),
    line("· all the rest", rest),
  ].join("\n");
}
