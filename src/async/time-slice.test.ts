import { expect, it } from "vitest";
import { countTurns } from "../../test/support/time/event-loop.ts";
import { TimeSlice, yieldToEventLoop } from "./time-slice.ts";

it("resumes one waiter per turn of the event loop, in order", async () => {
  const turn = countTurns();
  const resumed: [waiter: number, turn: number][] = [];
  await Promise.all([1, 2, 3].map((waiter) => yieldToEventLoop().then(() => resumed.push([waiter, turn()]))));
  expect(resumed.map(([waiter]) => waiter)).toEqual([1, 2, 3]);
  expect(new Set(resumed.map(([, turn]) => turn)).size).toBe(3);
});

it("yields when the slice is used up, and not before", async () => {
  let now = 0;
  const turn = countTurns();
  const slice = new TimeSlice(15, () => now);
  const began = turn();
  now = 14;
  await slice.yieldIfDue();
  expect(turn()).toBe(began);
  now = 15;
  await slice.yieldIfDue();
  expect(turn()).toBeGreaterThan(began);
});
