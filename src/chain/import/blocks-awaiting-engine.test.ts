import { ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { BlocksAwaitingEngine } from "./blocks-awaiting-engine.ts";

function block(slot: number) {
  const signed = ssz.phase0.SignedBeaconBlock.defaultValue();
  signed.message.slot = slot;
  return { signed, root: `0x${slot}`, arrivedAt: 0 };
}

it("returns blocks in slot order and evicts the oldest", () => {
  const waiting = new BlocksAwaitingEngine();
  for (const slot of [70, 3, ...Array.from({ length: 64 }, (_, index) => index + 4)]) waiting.add(block(slot));
  expect(waiting.has("0x3")).toBe(false);
  const slots = waiting.inOrder().map(({ signed }) => signed.message.slot);
  expect(slots).toEqual([...slots].sort((a, b) => a - b));
  expect(slots).toHaveLength(64);
  expect(slots.at(-1)).toBe(70);
  waiting.delete("0x70");
  expect(waiting.has("0x70")).toBe(false);
});
