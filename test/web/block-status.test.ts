import { expect, it } from "vitest";
import { blockStatusOf } from "../../src/web/block-status.ts";

const head = {
  head_block_root: "head",
  finalized_slot: "16",
  justified_block_root: "justified",
};

it.each([
  [{ root: "finalized", slot: 16, isCanonical: true }, "final"],
  [{ root: "orphan", slot: 16, isCanonical: false }, "orphaned"],
  [{ root: "later", slot: 17, isCanonical: true }, "on the chain"],
  [{ root: "justified", slot: 24, isCanonical: true }, "justified checkpoint"],
  [{ root: "head", slot: 35, isCanonical: true }, "head"],
  [{ root: "head", slot: 0, isCanonical: true }, "final"],
])("%j is %s", (block, status) => {
  expect(blockStatusOf(block, head)).toBe(status);
});
