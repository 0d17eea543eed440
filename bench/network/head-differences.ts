import type { SeenBlock } from "./chain-watch.ts";

interface HeadDifferences {
  /** Milliseconds of each stretch of time in which not all nodes had the same head. */
  stretches: number[];
  /** How many of them outlasted the slot in which they began, so that more than a block on its way was different. */
  overSlots: number;
}

/** Compares the heads of several nodes from the first moment on at which all of them had the same. */
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
