/** Two fifths of a name mistyped is still recognisable; more is another name. */
const TOLERATED_SHARE = 0.4;
/** Short names may have two mistakes. */
const TOLERATED_MISTAKES = 2;
/** Nobody mistypes a name that long, and comparing it would cost. */
const LONGEST_NAME = 200;
/** A name cut short, such as `port` for `rpc-port`, is nearer than its missing letters say. */
const MISTAKES_OF_A_PART = 2;
const SHORTEST_PART = 4;

/** The candidate most like what was written, or undefined when none is like it. Letter case counts for nothing. */
export function nearestName(written: string, candidates: Iterable<string>): string | undefined {
  if (written.length > LONGEST_NAME) return undefined;
  const name = written.toLowerCase();
  let nearest: string | undefined;
  let fewest = Math.max(TOLERATED_MISTAKES, Math.floor(name.length * TOLERATED_SHARE)) + 1;
  if (name.length < TOLERATED_MISTAKES) return undefined;
  for (const candidate of candidates) {
    const mistakes = mistakesBetween(name, candidate.toLowerCase());
    if (mistakes < fewest) {
      fewest = mistakes;
      nearest = candidate;
    }
  }
  return nearest;
}

function mistakesBetween(name: string, candidate: string): number {
  const isPart =
    Math.min(name.length, candidate.length) >= SHORTEST_PART && (candidate.includes(name) || name.includes(candidate));
  const edits = editDistance(name, candidate);
  return isPart ? Math.min(MISTAKES_OF_A_PART, edits) : edits;
}

/** Letters added, left out or changed; two swapped neighbours count as one mistake, as typing fingers make it. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let best = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) best = Math.min(best, beforeLast[column - 2]! + 1);
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length]!;
}
