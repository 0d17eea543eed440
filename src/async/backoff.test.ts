import { expect, it } from "vitest";
import { Backoff, reconnect } from "./backoff.ts";

const LIMITS = { firstMillis: 100, maxMillis: 500 };

it("doubles the delay up to the maximum, until it is reset", () => {
  const backoff = new Backoff(LIMITS);
  expect([1, 2, 3, 4, 5].map(() => backoff.next())).toEqual([100, 200, 400, 500, 500]);
  backoff.reset();
  expect(backoff.next()).toBe(100);
});

it("reconnects until aborted, and starts over after a stable connection", async () => {
  const durations = [0, 1000, 1001, 0];
  const closing = new AbortController();
  const delays: number[] = [];
  let now = 0;
  const timers = {
    now: () => now,
    async sleep(millis: number) {
      delays.push(millis);
    },
  };
  const connect = async () => {
    now += durations.shift() ?? 0;
    if (durations.length === 0) closing.abort();
  };
  await reconnect(connect, { ...LIMITS, stableMillis: 1000, timers, signal: closing.signal });
  expect(delays).toEqual([100, 200, 100, 200]);
});
