import { expect, test } from "vitest";
import { root } from "./fork-choice/blocks.test-support.ts";
import { GrowingPauses } from "./growing-pauses.ts";

const ROOT = root(7);

/** The slots in which a pause is over, where each time the next begins. */
function endsOf(pauses: GrowingPauses, { from, to }: { from: number; to: number }): number[] {
  const ends: number[] = [];
  for (let slot = from; slot <= to; slot++) {
    if (!pauses.isOver(ROOT, slot)) continue;
    ends.push(slot);
    pauses.begin(ROOT, slot);
  }
  return ends;
}

test("pauses grow to 32 slots, and begin anew when they are ended", () => {
  const pauses = new GrowingPauses();
  expect(pauses.has(ROOT)).toBe(false);
  expect(endsOf(pauses, { from: 100, to: 230 })).toEqual([100, 101, 103, 107, 115, 131, 163, 195, 227]);
  pauses.end();
  expect(pauses.has(ROOT)).toBe(true);
  expect(endsOf(pauses, { from: 231, to: 240 })).toEqual([231, 232, 234, 238]);
});

test("a clock that is set back does not make a pause longer", () => {
  const pauses = new GrowingPauses();
  pauses.begin(ROOT, 1000);
  expect(pauses.isOver(ROOT, 1000)).toBe(false);
  expect(pauses.isOver(ROOT, 10)).toBe(true);
});

test("a moment is gone back to with its pauses", () => {
  const pauses = new GrowingPauses();
  pauses.begin(ROOT, 5);
  const moment = pauses.capture();
  pauses.begin(ROOT, 6);
  pauses.begin(root(8), 6);
  pauses.restore(moment);
  expect(pauses.has(root(8))).toBe(false);
  expect(pauses.isOver(ROOT, 6)).toBe(true);
  pauses.delete(ROOT);
  expect(pauses.has(ROOT)).toBe(false);
});
