import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { arrivals, TurnShare } from "./turn-share.ts";

function spin(millis: number): void {
  for (const until = performance.now() + millis; performance.now() < until; );
}

it("a kind of work has its share of a turn, and another one in the next", async () => {
  const share = new TurnShare();
  expect(share.isOver).toBe(false);
  expect(share.isOver).toBe(false);
  spin(4);
  expect(share.isOver).toBe(true);
  await nextTurn();
  expect(share.isOver).toBe(false);
});

it("while clients come one after the other, shares are small", async () => {
  for (let client = 0; client < 3; client++) {
    arrivals.note();
    await nextTurn();
  }
  const share = new TurnShare();
  expect(share.isOver).toBe(false);
  spin(0.2);
  expect(share.isOver).toBe(true);
  while (arrivals.comeFirst) await nextTurn();
});
