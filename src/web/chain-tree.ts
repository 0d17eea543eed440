/** A block to draw. */
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
  const occupied: [from: number, to: number][][] = [];
  for (const tip of tips.sort((a, b) => b.slot - a.slot)) {
    const branch: BlockNote[] = [];
    let block: BlockNote | undefined = tip;
    while (block && !lanes.has(block.root)) {
      branch.push(block);
      block = blocks.get(block.parentRoot);
    }
    const from = block?.slot ?? branch.at(-1)!.slot;
    const index = occupied.findIndex((spans) => spans.every(([start, end]) => end < from || start > tip.slot));
    const lane = index === -1 ? occupied.push([]) : index + 1;
    occupied[lane - 1]!.push([from, tip.slot]);
    for (const { root } of branch) lanes.set(root, lane);
  }
  return [...blocks.values()].map((block) => ({ ...block, lane: lanes.get(block.root)! }));
}

interface SlotCounts {
  /** Slots with a canonical block. */
  proposed: number;
  /** Slots without any block. */
  missed: number;
  /** Slots with only orphaned blocks. */
  orphaned: number;
}

/** Counts each slot in a range once. */
export function countSlots(
  blocks: readonly { readonly slot: number; readonly isCanonical: boolean }[],
  from: number,
  to: number,
): SlotCounts {
  const blocksInRange = blocks.filter(({ slot }) => slot >= from && slot <= to);
  const filled = new Set(blocksInRange.map(({ slot }) => slot)).size;
  const proposed = new Set(blocksInRange.filter(({ isCanonical }) => isCanonical).map(({ slot }) => slot)).size;
  return { proposed, missed: Math.max(0, to - from + 1) - filled, orphaned: filled - proposed };
}

export interface EpochSummary extends SlotCounts {
  epoch: number;
}

/** Counts the slots in each known epoch, newest first. */
export function summarizeEpochs(
  blocks: readonly PlacedBlock[],
  { from, to, slotsPerEpoch }: { from: number; to: number; slotsPerEpoch: number },
): EpochSummary[] {
  const notes = blocks.map(({ slot, lane }) => ({ slot, isCanonical: lane === 0 }));
  const oldest = Math.floor(from / slotsPerEpoch);
  const epochs = Array.from({ length: Math.floor(to / slotsPerEpoch) - oldest + 1 }, (_, index) => oldest + index);
  return epochs.toReversed().map((epoch) => {
    const first = epoch * slotsPerEpoch;
    return { epoch, ...countSlots(notes, Math.max(from, first), Math.min(to, first + slotsPerEpoch - 1)) };
  });
}
