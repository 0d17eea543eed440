import { median } from "../support/statistics.ts";
import type { WayTimes } from "./measure.ts";

/** Speed, processor time, and how much faster than others a way is (the median of all segments), as Markdown. */
export function tableOf(ways: readonly WayTimes[]): string {
  const [, library, loop] = ways;
  if (!library || !loop) throw new Error("There is nothing to compare with.");
  const against = (way: WayTimes, other: WayTimes) =>
    median(way.elapsed.map((milliseconds, index) => other.elapsed[index]! / milliseconds)).toFixed(2);
  return [
    "| | blocks/s | CPU ms a block | faster than the transition with signatures | faster than importBlock |",
    "| --- | ---: | ---: | ---: | ---: |",
    ...ways.map((way) => {
      const perSecond = ((1000 * way.blocks) / sum(way.elapsed)).toFixed(0);
      const spent = (sum(way.spent) / way.blocks).toFixed(2);
      return `| ${way.name} | ${perSecond} | ${spent} | ${against(way, library)} × | ${against(way, loop)} × |`;
    }),
  ].join("\n");
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
