import { expect, it } from "vitest";
import { root } from "../../../../test/support/chain/fork-choice/blocks.ts";
import { Backoff } from "./backoff.ts";

const ROOT = root(7);

/** Slots in which an attempt is due, if each attempt schedules the next. */
function endsOf(backoff: Backoff, { from, to }: { from: number; to: number }): number[] {
  const ends: number[] = [];
  for (let slot = from; slot <= to; slot++) {
    if (!backoff.isDue(ROOT, slot)) continue;
    ends.push(slot);
    backoff.schedule(ROOT, slot);
  }
  return ends;
}

it("delays double up to 32 slots and start over after a reset", () => {
  const backoff = new Backoff();
  expect(backoff.has(ROOT)).toBe(false);
  expect(endsOf(backoff, { from: 100, to: 230 })).toEqual([100, 101, 103, 107, 115, 131, 163, 195, 227]);
  backoff.reset();
  expect(backoff.has(ROOT)).toBe(true);
  expect(endsOf(backoff, { from: 231, to: 240 })).toEqual([231, 232, 234, 238]);
});

it("a clock that is set back does not extend a delay", () => {
  const backoff = new Backoff();
  backoff.schedule(ROOT, 1000);
  expect(backoff.isDue(ROOT, 1000)).toBe(false);
  expect(backoff.isDue(ROOT, 10)).toBe(true);
});

it("restores a snapshot", () => {
  const backoff = new Backoff();
  backoff.schedule(ROOT, 5);
  const snapshot = backoff.capture();
  backoff.schedule(ROOT, 6);
  backoff.schedule(root(8), 6);
  backoff.restore(snapshot);
  expect(backoff.has(root(8))).toBe(false);
  expect(backoff.isDue(ROOT, 6)).toBe(true);
  backoff.delete(ROOT);
  expect(backoff.has(ROOT)).toBe(false);
});
