import { expect, it } from "vitest";
import { type BlockNote, countSlots, placeBlocks, summarizeEpochs } from "../../src/web/chain-tree.ts";

/** Blocks by name, each with its slot and parent. */
function blocksOf(notes: Record<string, [slot: number, parentRoot: string]>): Map<string, BlockNote> {
  return new Map(
    Object.entries(notes).map(([root, [slot, parentRoot]]) => [root, { root, slot, parentRoot, proposer: undefined }]),
  );
}

const lanesOf = (blocks: Map<string, BlockNote>, head: string) =>
  Object.fromEntries(placeBlocks(blocks, head).map(({ root, lane }) => [root, lane]));

it("keeps the canonical chain in the lowest lane, and separates overlapping branches", () => {
  const blocks = blocksOf({
    a: [1, "genesis"],
    b: [2, "a"],
    c: [3, "b"],
    d: [4, "c"],
    left: [3, "a"],
    longer: [4, "left"],
    right: [4, "b"],
    early: [1, "genesis"],
  });
  expect(lanesOf(blocks, "d")).toEqual({ a: 0, b: 0, c: 0, d: 0, left: 1, longer: 1, right: 2, early: 2 });
  // After a reorg the other branch is canonical.
  expect(lanesOf(blocks, "longer")).toMatchObject({ a: 0, left: 0, longer: 0, b: 1, c: 1, d: 1, right: 2 });
});

it("draws known blocks while the head is unknown", () => {
  expect(lanesOf(blocksOf({ a: [1, "genesis"], b: [2, "a"] }), "")).toEqual({ a: 1, b: 1 });
  expect(placeBlocks(new Map(), "")).toEqual([]);
});

it("counts each slot of an epoch once", () => {
  const blocks = placeBlocks(
    blocksOf({ a: [8, "x"], b: [9, "a"], orphan: [10, "a"], late: [9, "a"], c: [16, "b"] }),
    "c",
  );
  expect(summarizeEpochs(blocks, { from: 8, to: 17, slotsPerEpoch: 8 })).toEqual([
    { epoch: 2, proposed: 1, missed: 1, orphaned: 0 },
    { epoch: 1, proposed: 2, missed: 5, orphaned: 1 },
  ]);
});

it("counts several orphaned blocks of a slot as one slot", () => {
  const blocks = [
    { slot: 1, isCanonical: false },
    { slot: 1, isCanonical: false },
    { slot: 2, isCanonical: true },
    { slot: 9, isCanonical: true },
  ];
  expect(countSlots(blocks, 0, 3)).toEqual({ proposed: 1, missed: 2, orphaned: 1 });
  expect(countSlots([], 4, 3)).toEqual({ proposed: 0, missed: 0, orphaned: 0 });
});
