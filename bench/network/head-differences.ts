import type { SeenBlock } from "./chain-watch.ts";

interface HeadDifferences {
  /** Durations of the periods with different heads, in milliseconds. */
  stretches: number[];
  /** Number of periods of at least a slot, which propagation delay does not explain. */
  overSlots: number;
}

/** Compares the heads of several nodes, from the first time they are equal. */
export function headDifferences(nodes: readonly (readonly SeenBlock[])[], slotMs: number): HeadDifferences {
  const changes = nodes
    .flatMap((heads, node) => heads.map(({ root, at }) => ({ node, root, at })))
    .sort((a, b) => a.at - b.at);
  const current = nodes.map((): string | undefined => undefined);
  const stretches: number[] = [];
  let differsSince: number | undefined;
  let haveAgreed = false;
  for (const { node, root, at } of changes) {
    current[node] = root;
    const agree = current.every((head) => head === root);
    if (agree && differsSince !== undefined) stretches.push(at - differsSince);
    if (agree) differsSince = undefined;
    else if (haveAgreed) differsSince ??= at;
    haveAgreed ||= agree;
  }
  return { stretches, overSlots: stretches.filter((length) => length >= slotMs).length };
}
