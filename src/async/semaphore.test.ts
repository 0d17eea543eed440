import { expect, it } from "vitest";
import { Semaphore } from "./semaphore.ts";

it("starts work in FIFO order as slots become free", () => {
  const slots = new Semaphore(1);
  const started: string[] = [];
  const acquire = (name: string) => slots.acquire(() => started.push(name));
  expect(acquire("a")).toBeUndefined();
  acquire("b");
  const cancel = acquire("c");
  acquire("d");
  cancel?.();
  expect([slots.active, slots.waiting]).toEqual([1, 2]);
  slots.release();
  expect(started).toEqual(["a", "b"]);
  slots.release();
  expect(started).toEqual(["a", "b", "d"]);
  expect(slots.tryAcquire()).toBe(false);
});

it("ends the wait of an aborted caller", async () => {
  const slots = new Semaphore(1);
  const never = new AbortController().signal;
  const leaving = new AbortController();
  await slots.wait(never);
  const left = slots.wait(leaving.signal);
  const next = slots.wait(never);
  leaving.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  await expect(slots.wait(leaving.signal)).rejects.toThrow("gone");
  slots.release();
  await next;
  expect([slots.active, slots.waiting]).toEqual([1, 0]);
});

it("counts work that began without a slot", () => {
  const slots = new Semaphore(1);
  slots.acquireNow();
  slots.acquireNow();
  slots.release();
  expect(slots.tryAcquire()).toBe(false);
  slots.release();
  expect(slots.tryAcquire()).toBe(true);
});
