/** Up to two fifths of a name may be mistyped, but no more than a few letters of a long name. */
const MAX_MISTYPED_SHARE = 0.4;
const MIN_EDITS = 2;
const MAX_EDITS = 8;
/** Longer input is not treated as a mistyped name. */
const MAX_NAME_LENGTH = 80;
/** Edit distance assigned to a shortened name, such as `port` for `rpc-port`. */
const EDITS_OF_PART = 2;
const MIN_PART_LENGTH = 4;

/**
 * Returns the candidate closest to a name, ignoring case, or undefined if none is close. The work is bounded: a
 * fraction of a millisecond for a few hundred candidates, regardless of the input.
 */
export function nearestName(input: string, candidates: Iterable<string>): string | undefined {
  if (input.length < MIN_EDITS || input.length > MAX_NAME_LENGTH) return undefined;
  const name = input.toLowerCase();
  let nearest: string | undefined;
  let limit = Math.min(MAX_EDITS, Math.max(MIN_EDITS, Math.floor(name.length * MAX_MISTYPED_SHARE)));
  for (const candidate of candidates) {
    const edits = editsBetween(name, candidate.toLowerCase(), limit);
    if (edits > limit) continue;
    nearest = candidate;
    // Only a closer candidate replaces this one.
    limit = edits - 1;
    if (limit < 0) break;
  }
  return nearest;
}

function editsBetween(name: string, candidate: string, limit: number): number {
  const isPart =
    Math.min(name.length, candidate.length) >= MIN_PART_LENGTH &&
    (candidate.includes(name) || name.includes(candidate));
  const edits = editDistance(name, candidate, limit);
  return isPart ? Math.min(EDITS_OF_PART, edits) : edits;
}

/**
 * Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours. Only cells within
 * `limit` of the diagonal are computed; a larger distance is infinite.
 */
function editDistance(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) > limit) return Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = new Array<number>(to.length + 1).fill(Number.POSITIVE_INFINITY);
    if (row <= limit) current[0] = row;
    let lowest = current[0]!;
    for (let column = Math.max(1, row - limit); column <= Math.min(to.length, row + limit); column++) {
      const isSame = from[row - 1] === to[column - 1];
      let best = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (isSame ? 0 : 1));
      const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (isSwap) best = Math.min(best, beforeLast[column - 2]! + 1);
      current[column] = best;
      lowest = Math.min(lowest, best);
    }
    if (lowest > limit) return Number.POSITIVE_INFINITY;
    beforeLast = last;
    last = current;
  }
  return last[to.length]!;
}
