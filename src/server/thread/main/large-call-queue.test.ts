import { expect, it } from "vitest";
import { LargeCallQueue } from "./large-call-queue.ts";

/** Starts calls that end when the test tells them to. */
function startCalls(queue: LargeCallQueue, sizes: readonly number[]) {
  const started: number[] = [];
  const calls = sizes.map((bytes, position) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const done = queue.run(bytes, () => {
      started.push(position);
      return promise;
    });
    return { done, resolve, reject };
  });
  return { started, calls };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

it("runs calls together whose messages fit into the limit, and the others in order", async () => {
  const { started, calls } = startCalls(new LargeCallQueue(10), [4, 4, 4, 1, 2]);
  await nextTurn();
  // The last two calls would fit, but they do not overtake the third.
  expect(started).toEqual([0, 1]);
  calls[1]!.resolve();
  await calls[1]!.done;
  await nextTurn();
  expect(started).toEqual([0, 1, 2, 3]);
  calls[0]!.resolve();
  await calls[0]!.done;
  await nextTurn();
  expect(started).toEqual([0, 1, 2, 3, 4]);
});

it("runs a message beyond the limit alone, and goes on after a failed call", async () => {
  const { started, calls } = startCalls(new LargeCallQueue(10), [11, 1]);
  await nextTurn();
  expect(started).toEqual([0]);
  calls[0]!.reject(new Error("failed"));
  await expect(calls[0]!.done).rejects.toThrow("failed");
  await nextTurn();
  expect(started).toEqual([0, 1]);
});
