import { expect, it } from "vitest";
import { withTimeout } from "./with-timeout.ts";

const late = () => new Error("late");
const timers = (sleep: (ms: number, signal: AbortSignal) => Promise<void>) => ({ sleep });

it("rejects after the time, and reads a response that arrived by then", async () => {
  const elapsed = timers(() => Promise.resolve());
  await expect(withTimeout(new Promise(() => {}), 10, elapsed, late)).rejects.toThrow("late");
  const waiting = new Promise((resolve) => setImmediate(() => resolve("read")));
  expect(await withTimeout(waiting, 10, elapsed, late)).toBe("read");
});

it("ends the timer with the response", async () => {
  const signals: AbortSignal[] = [];
  const pending = timers((_ms, signal) => {
    signals.push(signal);
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  await expect(withTimeout(Promise.reject(new Error("failed")), 10, pending, late)).rejects.toThrow("failed");
  expect(await withTimeout(Promise.resolve(1), 10, pending, late)).toBe(1);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});
