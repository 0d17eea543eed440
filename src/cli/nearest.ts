/** Edit distance that counts two swapped neighbours as one mistake, as typing fingers do. */
function distance(from: string, to: string): number {
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

/** `rpcPort`, `rpc_port` and `RPC-PORT` are all the name `rpc-port`, spelt in another custom. */
function kebab(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase();
}

/** The candidate most like what was written, or undefined when none is like it. */
export function nearestName(written: string, candidates: Iterable<string>): string | undefined {
  const name = kebab(written);
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    // A name cut short (`validator-count` for `validators`, `port` for `rpc-port`) is nearer than its missing letters say.
    const contained =
      Math.min(name.length, candidate.length) >= 4 && (candidate.includes(name) || name.includes(candidate));
    const far = contained ? Math.min(2, distance(name, candidate)) : distance(name, candidate);
    if (far < least) {
      least = far;
      nearest = candidate;
    }
  }
  return least <= Math.max(2, Math.floor(name.length * 0.4)) ? nearest : undefined;
}

/** A closing sentence such as ` Did you mean --rpc-port?`, or nothing. */
export function didYouMean(written: string, candidates: Iterable<string>, prefix = ""): string {
  const nearest = nearestName(written, candidates);
  return nearest === undefined ? "" : ` Did you mean ${prefix}${nearest}?`;
}
