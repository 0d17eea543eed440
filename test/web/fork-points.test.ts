import { expect, it } from "vitest";
import { chainOf, forkPointsOf } from "../../src/web/fork-points.ts";

/** Blocks by name, each with its slot, parent and weight. */
const blocksOf = (blocks: Record<string, [slot: number, parent: string, weight: number]>) =>
  Object.entries(blocks).map(([block_root, [slot, parent_root, weight]]) => ({
    block_root,
    slot: String(slot),
    parent_root,
    weight: String(weight),
  }));

it("compares the branches of each fork", () => {
  const blocks = blocksOf({
    a: [1, "final", 90],
    b: [2, "a", 50],
    c: [3, "b", 20],
    d: [4, "c", 20],
    other: [3, "b", 30],
    late: [2, "a", 40],
    later: [5, "late", 40],
  });
  expect([...chainOf(blocks, "other")]).toEqual(["other", "b", "a"]);
  const points = forkPointsOf(blocks, "other");
  expect(points.map(({ parentRoot, parentSlot }) => [parentRoot, parentSlot])).toEqual([
    ["b", "2"],
    ["a", "1"],
  ]);
  const summary = points.map(({ branches }) =>
    branches.map(({ first, tip, blockCount, isChosen }) => [first.block_root, tip.block_root, blockCount, isChosen]),
  );
  expect(summary).toEqual([
    [
      ["other", "other", 1, true],
      ["c", "d", 2, false],
    ],
    [
      ["b", "d", 4, true],
      ["late", "later", 2, false],
    ],
  ]);
});

it("finds no fork on a single chain", () => {
  expect(forkPointsOf(blocksOf({ a: [1, "final", 1], b: [2, "a", 1] }), "b")).toEqual([]);
});
