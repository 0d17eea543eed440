/** The value below which the given share of all values lies; 0 for the smallest, 1 for the largest. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN;
}
