/**
 * Returns true if the position belongs to a share (0 to 1) that is spread evenly over all positions. Of the first n
 * positions, n × share belong to the share, rounded.
 */
export function isInShare(position: number, share: number): boolean {
  return Math.round((position + 1) * share) > Math.round(position * share);
}
