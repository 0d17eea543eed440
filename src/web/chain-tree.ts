/** Block to draw. */
export interface BlockNote {
  readonly root: string;
  readonly slot: number;
  readonly parentRoot: string;
  /** Undefined until loaded. */
  readonly proposer: string | undefined;
}

export interface PlacedBlock extends BlockNote {
  /** 0 for the canonical chain, higher for branches. */
  readonly lane: number;
}

/** Assigns blocks to lanes so that branches do not overlap. */
export function placeBlocks(blocks: ReadonlyMap<string, BlockNote>, headRoot: string): PlacedBlock[] {
  const lanes = new Map<string, number>();
  for (let block = blocks.get(headRoot); block; block = blocks.get(block.parentRoot)) lanes.set(block.root, 0);
  const parents = new Set([...blocks.values()].map(({ parentRoot }) => parentRoot));
  const tips = [...blocks.values()].filter(({ root }) => !parents.has(root) && !lanes.has(root));
  /** Occupied slot ranges by lane. */
  const taken: [from: number, to: number][][] = [];
  for (const tip of tips.sort((a, b) => b.slot - a.slot)) {
    const branch: BlockNote[] = [];
    let block: BlockNote | undefined = tip;
    while (block && !lanes.has(block.root)) {
      branch.push(block);
      block = blocks.get(block.parentRoot);
    }
    const from = block?.slot ?? branch.at(-1)!.slot;
    const index = taken.findIndex((spans) => spans.every(([start, end]) => end < from || start > tip.slot));
    const lane = index === -1 ? taken.push([]) : index + 1;
    taken[lane - 1]!.push([from, tip.slot]);
    for (const { root } of branch) lanes.set(root, lane);
  }
  return [...blocks.values()].map((block) => ({ ...block, lane: lanes.get(block.root)! }));
}

export interface EpochSummary {
  epoch: number;
  proposed: number;
  missed: number;
  orphaned: number;
}

/** Counts proposed and missed slots of each known epoch, newest first. */
export function summarizeEpochs(
  blocks: readonly PlacedBlock[],
  { from, to, slotsPerEpoch }: { from: number; to: number; slotsPerEpoch: number },
): EpochSummary[] {
  const byEpoch = new Map<number, EpochSummary>();
  const summaryOf = (slot: number) => {
    const epoch = Math.floor(slot / slotsPerEpoch);
    const known = byEpoch.get(epoch);
    if (known) return known;
    const summary = { epoch, proposed: 0, missed: 0, orphaned: 0 };
    byEpoch.set(epoch, summary);
    return summary;
  };
  const filled = new Set<number>();
  for (const { slot, lane } of blocks) {
    if (slot < from || slot > to) continue;
    if (lane === 0) filled.add(slot);
    else summaryOf(slot).orphaned++;
  }
  for (let slot = from; slot <= to; slot++) {
    if (filled.has(slot)) summaryOf(slot).proposed++;
    else summaryOf(slot).missed++;
  }
  return [...byEpoch.values()].sort((a, b) => b.epoch - a.epoch);
}
