import { describe, expect, it } from "vitest";
import { addBlock, EPOCH, makeForkChoice, root } from "../../../../test/support/chain/fork-choice/blocks.ts";
import type { ForkChoice } from "../fork-choice.ts";
import type { ForkChoiceBlock } from "../types.ts";

const ids = (blocks: Iterable<ForkChoiceBlock>) => [...blocks].map((block) => Number(block.root));

/**
 * 1 (slot 0) - 2 (1) - 3 (8) - 4 (9) - 5 (11)
 *                \ 6 (8)        \ 7 (10)
 * with validator 0 voting for block 5.
 */
function makeTree(): ForkChoice {
  const forkChoice = makeForkChoice();
  addBlock(forkChoice, 2, 1, 1);
  addBlock(forkChoice, 3, 2, EPOCH);
  addBlock(forkChoice, 6, 2, EPOCH);
  addBlock(forkChoice, 4, 3, 9);
  addBlock(forkChoice, 7, 4, 10);
  addBlock(forkChoice, 5, 4, 11);
  forkChoice.onTick(12);
  forkChoice.onAttestation({ indices: [0], slot: 11, targetEpoch: 1, blockRoot: root(5) });
  forkChoice.updateHead();
  return forkChoice;
}

/** Adds a new head, block 8, that finalizes block 3 as the checkpoint of epoch 1. */
function finalizeThree(forkChoice: ForkChoice): void {
  const finalized = { epoch: 1, root: root(3) };
  addBlock(forkChoice, 8, 5, 3 * EPOCH, { justified: { epoch: 2, root: root(5) }, finalized });
  forkChoice.onTick(3 * EPOCH + 1);
  forkChoice.updateHead();
}

describe("ancestry", () => {
  it("ancestorAtSlot is the latest block at or before the slot", () => {
    const forkChoice = makeTree();
    expect(forkChoice.ancestorAtSlot(root(5), 11)).toBe(root(5));
    expect(forkChoice.ancestorAtSlot(root(5), 10)).toBe(root(4));
    expect(forkChoice.ancestorAtSlot(root(5), 7)).toBe(root(2));
    expect(forkChoice.ancestorAtSlot(root(5), 100)).toBe(root(5));
    expect(forkChoice.ancestorAtSlot(root(99), 7)).toBeUndefined();
  });

  it("isDescendant includes the block itself and no sibling", () => {
    const forkChoice = makeTree();
    expect(forkChoice.isDescendant(root(3), root(5))).toBe(true);
    expect(forkChoice.isDescendant(root(5), root(5))).toBe(true);
    expect(forkChoice.isDescendant(root(5), root(3))).toBe(false);
    expect(forkChoice.isDescendant(root(6), root(5))).toBe(false);
    expect(forkChoice.isDescendant(root(99), root(5))).toBe(false);
    expect(forkChoice.isDescendant(root(5), root(99))).toBe(false);
    expect(forkChoice.isDescendant(root(99), root(98))).toBe(false);
  });

  it("commonAncestor and ancestors", () => {
    const forkChoice = makeTree();
    expect(forkChoice.commonAncestor(root(7), root(5))?.root).toBe(root(4));
    expect(forkChoice.commonAncestor(root(6), root(5))?.root).toBe(root(2));
    expect(forkChoice.commonAncestor(root(3), root(5))?.root).toBe(root(3));
    expect(forkChoice.commonAncestor(root(99), root(5))).toBeUndefined();
    expect(ids(forkChoice.ancestors(root(7)))).toEqual([7, 4, 3, 2, 1]);
    expect(ids(forkChoice.ancestors(root(99)))).toEqual([]);
  });

  it("canonical is what the head descends from", () => {
    const forkChoice = makeTree();
    expect(forkChoice.head.root).toBe(root(5));
    expect(forkChoice.canonicalAtSlot(8)?.root).toBe(root(3));
    expect(forkChoice.canonicalAtSlot(10)?.root).toBe(root(4));
  });
});

it("branches: leaves, children, blocks of a slot, all", () => {
  const forkChoice = makeTree();
  expect(ids(forkChoice.leaves())).toEqual([6, 7, 5]);
  expect(ids(forkChoice.childrenOf(root(2)))).toEqual([3, 6]);
  expect(ids(forkChoice.blocksAtSlot(EPOCH))).toEqual([3, 6]);
  expect(ids(forkChoice.all())).toEqual([1, 2, 3, 6, 4, 7, 5]);
});

describe("pruning", () => {
  it("removes the ancestors of the finalized block and all other branches", () => {
    const forkChoice = makeTree();
    expect(forkChoice.prune()).toEqual([]);
    finalizeThree(forkChoice);
    expect(ids(forkChoice.prune())).toEqual([1, 2, 6]);
    expect(ids(forkChoice.all())).toEqual([3, 4, 7, 5, 8]);
    expect(forkChoice.prune()).toEqual([]);
  });

  it("keeps queries correct for the remaining blocks", () => {
    const forkChoice = makeTree();
    finalizeThree(forkChoice);
    forkChoice.prune();
    expect(forkChoice.head.root).toBe(root(8));
    expect(forkChoice.ancestorAtSlot(root(8), 10)).toBe(root(4));
    expect(forkChoice.ancestorAtSlot(root(8), 7)).toBeUndefined();
    expect(forkChoice.commonAncestor(root(7), root(8))?.root).toBe(root(4));
    expect(ids(forkChoice.ancestors(root(8)))).toEqual([8, 5, 4, 3]);
    expect(forkChoice.isDescendantOfFinalized(root(7))).toBe(true);
    expect(forkChoice.has(root(6))).toBe(false);
  });

  it("moves votes with their blocks and lets votes for removed blocks move on", () => {
    const forkChoice = makeTree();
    forkChoice.onAttestation({ indices: [1], slot: 11, targetEpoch: 1, blockRoot: root(6) });
    finalizeThree(forkChoice);
    forkChoice.prune();
    forkChoice.updateHead();
    expect(forkChoice.weightOf(root(3))).toBe(32);
    forkChoice.onAttestation({ indices: [0, 1], slot: 3 * EPOCH, targetEpoch: 3, blockRoot: root(8) });
    forkChoice.updateHead();
    expect(forkChoice.weightOf(root(8))).toBe(64);
    expect(forkChoice.weightOf(root(7))).toBe(0);
  });
});
