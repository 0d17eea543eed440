import { ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { HeldBlocks } from "./held-blocks.ts";

function block(slot: number) {
  const signed = ssz.phase0.SignedBeaconBlock.defaultValue();
  signed.message.slot = slot;
  return { signed, root: `0x${slot}`, arrivedAt: 0 };
}

it("returns blocks in slot order and evicts the oldest", () => {
  const waiting = new HeldBlocks();
  for (const slot of [70, 3, ...Array.from({ length: 64 }, (_, index) => index + 4)]) waiting.add(block(slot));
  expect(waiting.has("0x3")).toBe(false);
  const slots = waiting.inOrder().map(({ signed }) => signed.message.slot);
  expect(slots).toEqual([...slots].sort((a, b) => a - b));
  expect(slots).toHaveLength(64);
  expect(slots.at(-1)).toBe(70);
  waiting.delete("0x70");
  expect(waiting.has("0x70")).toBe(false);
});

it("finds the children of a block", () => {
  const waiting = new HeldBlocks();
  const parentRoot = new Uint8Array(32).fill(7);
  const [first, second, other] = [block(5), block(4), block(6)];
  for (const { signed } of [first, second]) signed.message.parentRoot = parentRoot;
  for (const each of [first, other, second]) waiting.add(each);
  expect(waiting.childrenOf(`0x${"07".repeat(32)}`)).toEqual([second, first]);
});
