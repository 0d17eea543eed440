/** Returns the quantile: 0 for the smallest value, 1 for the largest. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN;
}

/** Returns the median, or the upper one of two middle values. */
export function median(values: readonly number[]): number {
  const middle = values.toSorted((a, b) => a - b)[values.length >> 1];
  if (middle === undefined) throw new RangeError("The median of an empty list is undefined.");
  return middle;
}

export const mean = (values: readonly number[]) => sum(values) / values.length;

export const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
