/**
 * Returns true if a position belongs to a share (0 to 1) of all positions, spread evenly. The share contains n × share
 * of the first n positions, rounded.
 */
export function isInShare(position: number, share: number): boolean {
  return Math.round((position + 1) * share) > Math.round(position * share);
}
