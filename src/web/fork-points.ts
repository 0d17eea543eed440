/** A block in fork choice. */
export interface ForkChoiceBlock {
  readonly slot: string;
  readonly block_root: string;
  readonly parent_root: string;
  readonly weight: string;
}

/** A branch from a block with several children. */
export interface Branch {
  /** First block of the branch. Fork choice compares its weight. */
  readonly first: ForkChoiceBlock;
  /** Newest block of the branch. */
  readonly tip: ForkChoiceBlock;
  readonly blockCount: number;
  readonly isChosen: boolean;
}

export interface ForkPoint {
  readonly parentRoot: string;
  /** Undefined if the parent is older than the finalized block. */
  readonly parentSlot: string | undefined;
  /** Heaviest first. */
  readonly branches: readonly Branch[];
}

/** Returns the roots of the chain that ends at the head. */
export function chainOf(blocks: readonly ForkChoiceBlock[], head: string): Set<string> {
  const byRoot = new Map(blocks.map((block) => [block.block_root, block]));
  const chain = new Set<string>();
  for (let block = byRoot.get(head); block; block = byRoot.get(block.parent_root)) chain.add(block.block_root);
  return chain;
}

/** Returns the blocks that have several children, newest first, with the branches between which fork choice decides. */
export function forkPointsOf(blocks: readonly ForkChoiceBlock[], head: string): ForkPoint[] {
  const chain = chainOf(blocks, head);
  const byRoot = new Map(blocks.map((block) => [block.block_root, block]));
  const children = Map.groupBy(blocks, ({ parent_root }) => parent_root);
  const branchOf = (first: ForkChoiceBlock): Branch => {
    let tip = first;
    let blockCount = 0;
    for (const pending = [first]; pending.length > 0; blockCount++) {
      const block = pending.pop()!;
      if (Number(block.slot) > Number(tip.slot)) tip = block;
      pending.push(...(children.get(block.block_root) ?? []));
    }
    return { first, tip, blockCount, isChosen: chain.has(first.block_root) };
  };
  const points = [...children].filter(([, siblings]) => siblings.length > 1);
  return points
    .map(([parentRoot, siblings]) => ({
      parentRoot,
      parentSlot: byRoot.get(parentRoot)?.slot,
      branches: siblings.map(branchOf).sort((a, b) => Number(BigInt(b.first.weight) - BigInt(a.first.weight))),
    }))
    .sort((a, b) => Number(b.parentSlot ?? 0) - Number(a.parentSlot ?? 0));
}
