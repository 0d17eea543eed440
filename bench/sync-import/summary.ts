import { median } from "../support/statistics.ts";
import type { VariantTimes } from "./measure.ts";

/** Formats speed, CPU time and speedups (median of all segments) as Markdown. */
export function tableOf(variants: readonly VariantTimes[]): string {
  const [, library, loop] = variants;
  if (!library || !loop) throw new Error("The reference variants are missing.");
  const against = (variant: VariantTimes, other: VariantTimes) =>
    median(variant.elapsed.map((milliseconds, index) => other.elapsed[index]! / milliseconds)).toFixed(2);
  return [
    "| | blocks/s | CPU ms per block | speedup over library with signatures | speedup over importBlock |",
    "| --- | ---: | ---: | ---: | ---: |",
    ...variants.map((variant) => {
      const perSecond = ((1000 * variant.blocks) / sum(variant.elapsed)).toFixed(0);
      const spent = (sum(variant.spent) / variant.blocks).toFixed(2);
      return `| ${variant.name} | ${perSecond} | ${spent} | ${against(variant, library)} × | ${against(variant, loop)} × |`;
    }),
  ].join("\n");
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
