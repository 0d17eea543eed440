import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { AfterArrivals, arrivals, TurnShare } from "./turn-share.ts";

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

it("what can wait is done at once, or when those who came are accepted, in its order", async () => {
  const later = new AfterArrivals();
  const done: number[] = [];
  later.do(() => done.push(0));
  expect(done).toEqual([0]);
  arrivals.note();
  for (let client = 0; client < 3; client++) {
    arrivals.note();
    await nextTurn();
    later.do(() => done.push(client + 1));
  }
  expect(done).toEqual([0]);
  while (done.length < 4) await nextTurn();
  expect(done).toEqual([0, 1, 2, 3]);
});

it("clients that come without an end do not keep it off", async () => {
  const later = new AfterArrivals();
  arrivals.note();
  arrivals.note();
  await nextTurn();
  let isDone = false;
  later.do(() => {
    isDone = true;
  });
  while (!isDone) {
    arrivals.note();
    await nextTurn();
  }
});
