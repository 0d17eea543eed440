import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type BatchLimits, BatchQueue } from "./batch-queue.ts";

const LIMITS: BatchLimits = { batchSize: 4, windowMs: 50, maxRunning: 2, maxWaiting: 10 };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setImmediate", "clearImmediate", "setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function openQueue() {
  const batches: number[][] = [];
  const endings: (() => void)[] = [];
  const dropped: number[] = [];
  const queue = new BatchQueue<number>(
    {
      process(items) {
        batches.push(items);
        return new Promise((resolve) => endings.push(resolve));
      },
      drop: (item) => dropped.push(item),
    },
    LIMITS,
  );
  const add = (...items: number[]) => {
    for (const item of items) queue.add(item);
  };
  return { queue, add, batches, endings, dropped };
}

it("items added together form a batch at once, later items form the next", async () => {
  const { add, batches, endings } = openQueue();
  add(1, 2, 3);
  expect(batches).toEqual([]);
  await vi.advanceTimersByTimeAsync(0);
  expect(batches).toEqual([[1, 2, 3]]);
  add(4);
  await vi.advanceTimersByTimeAsync(10);
  add(5);
  await vi.advanceTimersByTimeAsync(10);
  expect(batches.length).toBe(1);
  endings[0]!();
  await vi.advanceTimersByTimeAsync(0);
  expect(batches[1]).toEqual([4, 5]);
});

it("a full or due batch does not wait for the previous one", async () => {
  const full = openQueue();
  full.add(1);
  await vi.advanceTimersByTimeAsync(0);
  full.add(2, 3, 4, 5, 6);
  await vi.advanceTimersByTimeAsync(0);
  expect(full.batches).toEqual([[1], [2, 3, 4, 5]]);

  const slow = openQueue();
  slow.add(1);
  await vi.advanceTimersByTimeAsync(0);
  slow.add(2);
  await vi.advanceTimersByTimeAsync(LIMITS.windowMs - 1);
  expect(slow.batches.length).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(slow.batches).toEqual([[1], [2]]);
});

it("the oldest items are dropped beyond the limit, and all queued items on close", async () => {
  const { queue, add, batches, endings, dropped } = openQueue();
  add(...Array.from({ length: 8 }, (_, i) => i));
  await vi.advanceTimersByTimeAsync(0);
  expect(batches).toEqual([
    [0, 1, 2, 3],
    [4, 5, 6, 7],
  ]);
  add(...Array.from({ length: 12 }, (_, i) => 100 + i));
  expect(dropped).toEqual([100, 101]);
  const closed = queue.close();
  expect(dropped.length).toBe(12);
  add(200);
  expect(dropped.at(-1)).toBe(200);
  let isClosed = false;
  void closed.then(() => {
    isClosed = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  expect(isClosed).toBe(false);
  for (const end of endings) end();
  await closed;
  expect(batches.length).toBe(2);
});
