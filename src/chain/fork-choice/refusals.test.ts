import { expect, test } from "vitest";
import { root } from "./blocks.test-support.ts";
import { Refusals } from "./refusals.ts";

const REFUSED = root(7);

/** The slots, up to one, in which a block is due that is refused whenever it is. */
function dueSlots(refusals: Refusals, { from, to }: { from: number; to: number }): number[] {
  const due: number[] = [];
  for (let slot = from; slot <= to; slot++) {
    if (!refusals.isDue(REFUSED, slot)) continue;
    due.push(slot);
    refusals.note(REFUSED, slot);
  }
  return due;
}

test("the pauses grow to 32 slots, and begin anew when they are ended", () => {
  const refusals = new Refusals();
  expect(refusals.has(REFUSED)).toBe(false);
  expect(dueSlots(refusals, { from: 100, to: 230 })).toEqual([100, 101, 103, 107, 115, 131, 163, 195, 227]);
  refusals.endPauses();
  expect(refusals.has(REFUSED)).toBe(true);
  expect(dueSlots(refusals, { from: 231, to: 240 })).toEqual([231, 232, 234, 238]);
});

test("a clock that is set back does not make a pause longer", () => {
  const refusals = new Refusals();
  refusals.note(REFUSED, 1000);
  expect(refusals.isDue(REFUSED, 1000)).toBe(false);
  expect(refusals.isDue(REFUSED, 10)).toBe(true);
});

test("a moment is gone back to with its pauses", () => {
  const refusals = new Refusals();
  refusals.note(REFUSED, 5);
  const moment = refusals.capture();
  refusals.note(REFUSED, 6);
  refusals.note(root(8), 6);
  refusals.restore(moment);
  expect(refusals.has(root(8))).toBe(false);
  expect(refusals.isDue(REFUSED, 6)).toBe(true);
  refusals.delete(REFUSED);
  expect(refusals.has(REFUSED)).toBe(false);
});
