import { expect, it } from "vitest";
import { FifoQueue } from "./fifo-queue.ts";

it("returns items in the order of insertion, also while it grows and shrinks", () => {
  const queue = new FifoQueue<number>();
  let pushed = 0;
  let shifted = 0;
  expect(queue.shift()).toBeUndefined();
  for (const [added, removed] of [
    [3, 1],
    [5000, 4000],
    [10, 1012],
    [1, 1],
    [4000, 4000],
  ] as const) {
    for (let count = 0; count < added; count++) queue.push(pushed++);
    for (let count = 0; count < removed; count++) expect(queue.shift()).toBe(shifted++);
    expect(queue.size).toBe(pushed - shifted);
  }
  expect([queue.size, queue.shift()]).toEqual([0, undefined]);
});
