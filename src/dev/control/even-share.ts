/**
 * Whether a share of all, which is spread evenly over them, has the one at the position. Of the first n it has n times the
 * share, rounded to the nearest.
 */
export function isInShare(position: number, share: number): boolean {
  return Math.round((position + 1) * share) > Math.round(position * share);
}
