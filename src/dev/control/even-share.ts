/**
 * Returns true if the position is selected when a share (0 to 1) of all positions is selected evenly. Of the first n
 * positions, n × share are selected, rounded.
 */
export function isInShare(position: number, share: number): boolean {
  return Math.round((position + 1) * share) > Math.round(position * share);
}
