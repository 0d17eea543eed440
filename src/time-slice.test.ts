import { expect, it } from "vitest";
import { countTurns } from "./event-loop.test-support.ts";
import { ownTurn, TimeSlice } from "./time-slice.ts";

it("only one of those who wait goes on in a turn of the event loop, in their order", async () => {
  const turn = countTurns();
  const went: [who: number, turn: number][] = [];
  await Promise.all([1, 2, 3].map((who) => ownTurn().then(() => went.push([who, turn()]))));
  expect(went.map(([who]) => who)).toEqual([1, 2, 3]);
  expect(new Set(went.map(([, turn]) => turn)).size).toBe(3);
});

it("long work gives way when its slice of time is over, and not before", async () => {
  let now = 0;
  const turn = countTurns();
  const slice = new TimeSlice(15, () => now);
  const began = turn();
  now = 14;
  await slice.breathe();
  expect(turn()).toBe(began);
  now = 15;
  await slice.breathe();
  expect(turn()).toBeGreaterThan(began);
});
